// The formats that a client accepts, by its field `Accept`. For servers that choose a format for each client.

import Foundation
public import KFImaging

/// What a client accepts, by the field `Accept` of its request (RFC 9110, section 12.5.1). (Not in Kingfisher.)
///
/// ```swift
/// encoding.preferredFormats = AcceptedFormats(request.headers[.accept]).preferred(of: [.avif, .webp])
/// ```
///
/// A response that depends on it has the field `Vary: Accept`.
public struct AcceptedFormats: Hashable, Sendable {
    /// By ranges of media types, in small letters.
    private var weights: [String: Double] = [:]

    /// Reads the field of a request.
    ///
    /// - Parameter field: Its value, those of several fields joined by commas; without one everything is accepted.
    public init(_ field: String?) {
        for item in (field ?? "").split(separator: ",") {
            let parts = item.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            guard let range = parts.first, !range.isEmpty else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            // A weight that is none accepts nothing.
            weights[range] = weight.map { Double($0).flatMap { (0...1).contains($0) ? $0 : nil } ?? 0 } ?? 1
        }
        if weights.isEmpty { weights["*/*"] = 1 }
    }

    /// How much the client likes a format, from 0, which it does not accept, to 1.
    ///
    /// - Parameter format: The format.
    /// - Returns: The weight of the range that names it most closely.
    public func weight(of format: ImageContentType) -> Double {
        weights[format.mimeType] ?? weights["image/*"] ?? weights["*/*"] ?? 0
    }

    /// Those of some formats that the client names and likes no less than JPEG, for ``ImageEncoding/preferredFormats``.
    ///
    /// `*/*` and `image/*` name none: programs that send them may know no new formats.
    ///
    /// - Parameter formats: The formats that are offered.
    /// - Returns: Those with the highest weight first; of the same weight they keep their order.
    public func preferred(of formats: [ImageContentType]) -> [ImageContentType] {
        let least = weight(of: .jpeg)
        let named = formats.filter { format in
            weights[format.mimeType].map { $0 > 0 && $0 >= least } ?? false
        }
        let ordered = named.enumerated().sorted { one, other in
            let (weight, otherWeight) = (self.weight(of: one.element), self.weight(of: other.element))
            return weight == otherWeight ? one.offset < other.offset : weight > otherWeight
        }
        return ordered.map(\.element)
    }
}
