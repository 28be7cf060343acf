// Writes boxes of AVIF and HEIC files as defined by ISO/IEC 14496-12; the content of most boxes is up to the caller.

import Foundation

enum Box {
    static func word(_ number: Int) -> Data { Data([UInt8(number >> 8 & 255), UInt8(number & 255)]) }
    static func long(_ number: Int) -> Data { word(number >> 16) + word(number) }

    static func box(_ name: String, _ content: Data) -> Data { long(8 + content.count) + Data(name.utf8) + content }

    static func full(_ name: String, _ version: UInt8, _ content: Data) -> Data {
        box(name, Data([version, 0, 0, 0]) + content)
    }

    static func size(_ width: Int, _ height: Int) -> Data { full("ispe", 0, long(width) + long(height)) }
}
