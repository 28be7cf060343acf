// What this build has of the system's libraries, and what it says of one that is missing.

import Foundation
import KFSupport
import Testing

@testable import KFImaging

@Suite struct BuiltInLibraryTests {
    /// Set by Scripts/systems/tests where nothing but what Swift's own images have is installed.
    private static let isBare = ProcessInfo.processInfo.environment["KF_BARE"] != nil

    @Test("A full system has every library, a bare one none", arguments: BuiltInLibrary.allCases)
    func isThere(library: BuiltInLibrary) { #expect(library.isThere == !Self.isBare) }

    @Test("GIF, BMP and icons are always read; the other formats where their library is") func readable() {
        let always: Set<ImageContentType> = [.gif, .bmp, .ico]
        let others: Set<ImageContentType> = [.jpeg, .png, .webp, .avif, .tiff]
        let readable = Set(ImageContentType.readable)
        #expect(readable.isSuperset(of: Self.isBare ? always : always.union(others)))
        #expect(!Self.isBare || readable.isDisjoint(with: others))
    }

    @Test("BMP is always written; the other formats where their library is") func writable() {
        let writable = Set(ImageContentType.writable)
        #expect(writable.isSuperset(of: Self.isBare ? [] : [.jpeg, .png, .gif, .webp, .avif, .ico, .bmp, .tiff]))
        #expect(!Self.isBare || writable == [.bmp])
    }

    @Test("Reading and writing a format whose library is missing name the package to install", .enabled(if: isBare))
    func missing() throws {
        let webp = Data("RIFF\u{1A}\0\0\0WEBPVP8L\u{D}\0\0\0/\0\0\0\u{10}\u{7}\u{10}\u{11}\u{11}\u{8}\u{8}\u{7}\0".utf8)
        #expect(throws: ImagingError.notBuiltIn("WebP", package: "libwebp-dev")) { try ImageInfo(data: webp) }
        let gif = try #require(Data(base64Encoded: "R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs="))
        let image = try #require(Image(data: gif))
        #expect(image.pixelWidth == 1)
        #expect(image.pngData() == nil)
        // An icon that has a PNG in it.
        let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj3iwAAAABJRU5ErkJggg=="
        let pixel = try #require(Data(base64Encoded: png))
        let icon = Data([0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 32, 0, UInt8(pixel.count), 0, 0, 0, 22, 0, 0, 0]) + pixel
        #expect(Image(data: icon) == nil)
        let error = ImagingError.notBuiltIn("WebP", package: "libwebp-dev")
        #expect("\(error)".contains("install libwebp-dev"))
    }
}
