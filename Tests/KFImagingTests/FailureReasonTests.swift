// Why bytes could not be decoded, asked for afterwards.

import Foundation
import Testing

@testable import KFImaging

@Suite struct FailureReasonTests {
    /// An image as PNG, with some bytes behind it by which it is another file each time.
    private func file(side: Int) throws -> Data {
        try #require(Image(cgImage: .solid(0xFFFF_0000, side, side)).pngData()) + Data(UUID().uuidString.utf8)
    }

    @Test("A reason that was found under other limits is not that of the limits in force") func otherLimits() throws {
        let data = try file(side: 8)
        var limits = ImageDecodingLimits.default
        limits.maxPixelCount = 10
        let error = #expect(throws: ImagingError.self) {
            try Codecs.decode(data, options: DecodingOptions(limits: limits))
        }
        guard case .limitExceeded? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(Codecs.diagnose(data) == nil)
        #expect(Codecs.diagnose(data, limits: limits) == error)
        #expect(try Codecs.diagnose(file(side: 8), limits: limits) == error)
    }

    @Test("Each of many bytes that cannot be decoded has its own reason, however many failed after them")
    func manyFailures() throws {
        let files = (0..<200).map { Data("no image \($0) \(UUID())".utf8) } + [Data()]
        let cut = Data(try file(side: 8).prefix(30))
        for data in [cut] + files {
            #expect(throws: ImagingError.self) { try Codecs.decode(data) }
        }
        #expect(Codecs.diagnose(cut)?.malformedType != nil)
        #expect(Codecs.diagnose(Data()) == .emptyData)
        for data in files.dropLast() {
            guard case .unrecognizedFormat? = Codecs.diagnose(data) else {
                Issue.record("\(String(describing: Codecs.diagnose(data)))")
                return
            }
        }
    }
}
