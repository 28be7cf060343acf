// Inputs that are no image files: colour profiles, EXIF blocks, and the hashes that stand for images.

import CKFCodecs
import Foundation
import KFImaging

extension FuzzTarget {
    static let parts = [
        FuzzTarget(name: "icc", run: profile),
        FuzzTarget(name: "exif", run: exif),
        FuzzTarget(name: "blurhash", run: blurHash),
        FuzzTarget(name: "thumbhash", run: thumbHash),
    ]

    @Sendable private static func blurHash(_ data: Data) -> Bool {
        guard data.count < 200 else { return false }
        let text = String(decoding: data, as: UTF8.self)
        let sizes = [CGSize(width: 20, height: 13), CGSize(width: 1, height: 1), CGSize(width: CGFloat.nan, height: 3)]
        for (size, punch) in zip(sizes, [1, -.infinity, 3] as [CGFloat]) {
            guard let bitmap = Image(blurHash: text, size: size, punch: punch)?.cgImage else { continue }
            examine(bitmap, atMost: 1 << 12)
        }
        return true
    }

    @Sendable private static func thumbHash(_ data: Data) -> Bool {
        guard data.count < 200 else { return false }
        if let bitmap = Image(thumbHash: data)?.cgImage { examine(bitmap, atMost: 1 << 12) }
        return true
    }

    @Sendable private static func profile(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, bytes.count > 128 else { return false }
            guard let profile = kf_profile_open(start.assumingMemoryBound(to: UInt8.self), bytes.count) else {
                return true
            }
            defer { kf_profile_close(profile) }
            var name = [CChar](repeating: 0, count: 40)
            precondition(kf_profile_name(profile, &name, name.count) < name.count)
            _ = kf_profile_is_srgb(profile)
            for inverted in [false, true] {
                guard let transform = kf_transform_open(profile, inverted) else { continue }
                var pixels = (0..<64).map { UInt8($0 * 4) }
                kf_transform_apply(transform, &pixels, 16)
                kf_transform_close(transform)
            }
            return true
        }
    }

    /// The bytes as the EXIF chunk of a PNG of one pixel.
    @Sendable private static func exif(_ block: Data) -> Bool {
        guard block.count >= 8, block.count < 4096 else { return false }
        func chunk(_ name: String, _ content: Data) -> Data {
            let body = Data(name.utf8) + content
            return word(UInt32(content.count)) + body + word(checksum(body))
        }
        let header = word(1) + word(1) + Data([8, 0, 0, 0, 0])
        let pixel = Data([0x78, 0x9C, 0x63, 0x60, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01])
        let signature = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        let file =
            signature + chunk("IHDR", header) + chunk("eXIf", block) + chunk("IDAT", pixel) + chunk("IEND", Data())
        precondition((try? ImageInfo(data: file)) != nil)
        precondition((try? Codecs.decode(file)) != nil)
        return true
    }

    private static func word(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }

    private static func checksum(_ bytes: Data) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }
}
