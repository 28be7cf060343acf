// The protocol by which users decrypt what is downloaded, and its ready-made forms.

public import Foundation
public import FoundationNetworking
import KFSupport

/// Decrypts the bytes of a download before anything is made of them or stored. (Not in Kingfisher.)
///
/// Loads share a transfer only if their decryptors are `Hashable` and equal. With a decryptor there are no previews of
/// progressive JPEGs, since the bytes that arrive are not those of an image;
/// ``KingfisherParsedOptionsInfo/onDataReceived`` is given them as they arrive.
public protocol ImageDataDecryptor: Sendable {
    /// The bytes to use; nil fails the load with
    /// ``KingfisherError/ResponseErrorReason/decryptionFailed(task:error:)``, and so does an error.
    ///
    /// Called once a transfer, on a thread that may be blocked, before the load's data modifier and the downloader's
    /// delegate.
    /// - Parameters:
    ///   - data: All bytes as they arrived.
    ///   - response: The head of the response, as the response modifier left it.
    /// - Returns: The decrypted bytes, or nil.
    /// - Throws: Any error: it is part of the load's.
    func decrypt(_ data: Data, response: URLResponse?) throws -> Data?
}

/// A decryptor made from a closure. (Not in Kingfisher.)
///
/// It equals its copies.
public struct AnyDataDecryptor: ImageDataDecryptor, Hashable {
    private let identity = CodeIdentity()
    private let decrypt: @Sendable (Data, URLResponse?) throws -> Data?

    /// Creates a decryptor.
    /// - Parameter decrypt: Gives the decrypted bytes, or fails the load with nil or an error.
    public init(decrypt: @escaping @Sendable (Data, URLResponse?) throws -> Data?) { self.decrypt = decrypt }

    /// The closure's result.
    public func decrypt(_ data: Data, response: URLResponse?) throws -> Data? { try decrypt(data, response) }

    /// Whether one is a copy of the other.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.identity == rhs.identity }
    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// Decodes bytes that were sent as Base64 text. (Not in Kingfisher.)
///
/// Line breaks and all other characters outside the alphabet are left out; it fails where the rest is no Base64.
public struct Base64DataDecryptor: ImageDataDecryptor, Hashable {
    /// Creates a decryptor.
    public init() {}

    /// The decoded bytes.
    public func decrypt(_ data: Data, response: URLResponse?) -> Data? {
        Data(base64Encoded: data, options: .ignoreUnknownCharacters)
    }
}
