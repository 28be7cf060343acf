// Previews of a JPEG that arrives in pieces, compared with decodes of the part that had arrived.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

// Previews are made in this process only.
@Suite(.enabled(if: fixtureIsolation == .inProcess)) struct ProgressiveJPEGTests {
    /// The offsets of all SOS markers, by a search that is independent of the code under test.
    private func scans(of data: Data) -> [Int] {
        data.indices.dropLast().filter { data[$0] == 0xFF && data[$0 + 1] == 0xDA }
    }

    /// The file as it would be if it ended before the scan after this one.
    private func file(_ data: Data, cutAfterScan scan: Int) -> Data {
        data.prefix(scans(of: data)[scan]) + [0xFF, 0xD9]
    }

    @Test(
        "Every preview equals a decode of the file cut after that scan",
        arguments: ["progressive.jpg", "progressive-turned.jpg"]
    )
    func previews(name: String) throws {
        let data = try fixture(name)
        let count = scans(of: data).count
        let decoder = try ProgressiveJPEG()
        decoder.append(data)
        #expect(decoder.kind == .progressive && decoder.scanCount == count && count > 5)
        for scan in 1..<count {
            let preview = try decoder.image(afterScan: scan)
            let expected = try Codecs.decode(file(data, cutAfterScan: scan))
            #expect(preview.imageOrientation == expected.imageOrientation)
            #expect(try preview.bitmap().likeness(to: expected.bitmap()) == .infinity, "scan \(scan)")
        }
    }

    @Test("Bytes may arrive in chunks of any size", arguments: [1, 3, 64, 1000])
    func arbitraryChunks(size: Int) throws {
        let data = try fixture("progressive.jpg")
        let decoder = try ProgressiveJPEG()
        var shown = 0
        for start in stride(from: 0, to: data.count, by: size) {
            decoder.append(data.dropFirst(start).prefix(size))
            while shown + 1 < decoder.scanCount {
                shown += 1
                let preview = try decoder.image(afterScan: shown).bitmap()
                let expected = try Codecs.decode(file(data, cutAfterScan: shown)).bitmap()
                #expect(preview.likeness(to: expected) == .infinity)
            }
        }
        #expect(shown == scans(of: data).count - 1)
    }

    @Test("Scans may be skipped") func skippedScans() throws {
        let data = try fixture("progressive.jpg")
        let decoder = try ProgressiveJPEG()
        decoder.append(data)
        for scan in [2, 5, 9] where scan < decoder.scanCount {
            let expected = try Codecs.decode(file(data, cutAfterScan: scan)).bitmap()
            #expect(try decoder.image(afterScan: scan).bitmap().likeness(to: expected) == .infinity)
        }
    }

    @Test("Previews may be downsampled") func smallPreviews() throws {
        for name in ["progressive.jpg", "progressive-turned.jpg"] {
            let data = try fixture(name)
            let options = DecodingOptions(scale: 2, maxPixelSize: 40)
            let decoder = try ProgressiveJPEG(options: options)
            decoder.append(data)
            for scan in [1, 6] {
                let preview = try decoder.image(afterScan: scan)
                let expected = try Codecs.decode(file(data, cutAfterScan: scan), options: options)
                #expect(preview.scale == 2 && preview.imageOrientation == .up)
                // A preview is made with a smaller kernel.
                #expect(try preview.bitmap().likeness(to: expected.bitmap()) > 30)
            }
        }
    }

    @Test(
        "Files that are not progressive JPEGs are recognised",
        arguments: [
            "photo.jpg", "grey.jpg", "thumbnail.jpg", "separate.jpg", "arithmetic-progressive.jpg", "photo.png",
            "photo.gif",
        ]
    )
    func otherKinds(name: String) throws {
        let data = try fixture(name)
        for size in [1, data.count] {
            let decoder = try ProgressiveJPEG()
            for start in stride(from: 0, to: data.count, by: size) {
                decoder.append(data.dropFirst(start).prefix(size))
            }
            #expect(decoder.kind == .other)
            #expect(throws: ImagingError.self) { try decoder.image(afterScan: 1) }
        }
    }

    @Test("An incomplete scan is refused") func incompleteScan() throws {
        let data = try fixture("progressive.jpg")
        let decoder = try ProgressiveJPEG()
        decoder.append(data.prefix(scans(of: data)[1] + 3))  // the second scan's header has not arrived
        #expect(decoder.scanCount == 1)
        #expect(throws: ImagingError.self) { try decoder.image(afterScan: 1) }
    }

    @Test("Limits hold for progressive decoding") func limits() throws {
        let data = try fixture("progressive.jpg")
        func failure(_ limits: ImageDecodingLimits, scan: Int = 1) throws -> ImagingError? {
            let decoder = try ProgressiveJPEG(options: DecodingOptions(limits: limits))
            decoder.append(data)
            return #expect(throws: ImagingError.self) { try decoder.image(afterScan: scan) }
        }
        let pixels = try failure(ImageDecodingLimits(maxPixelCount: 96 * 64 - 1))
        #expect(pixels == .limitExceeded(limit: "maxPixelCount", allowed: 96 * 64 - 1, width: 96, height: 64))
        let coefficients = try failure(ImageDecodingLimits(maxCoefficientBytes: 96 * 64 * 3 - 1))
        #expect(
            coefficients
                == .limitExceeded(limit: "maxCoefficientBytes", allowed: 96 * 64 * 3 - 1, width: 96, height: 64)
        )
        let scans = try failure(ImageDecodingLimits(maxScanCount: 4), scan: 4)
        #expect(scans == .unsupported(.jpeg, detail: "more progressive scans than allowed"))
        let allowed = try ProgressiveJPEG(options: DecodingOptions(limits: ImageDecodingLimits(maxScanCount: 4)))
        allowed.append(data)
        #expect(try allowed.image(afterScan: 3).pixelWidth == 96)
    }

    /// On threads of its own: it takes long, and other tests need the cooperative ones.
    @Test("Damaged bytes cause nothing worse than an error") func damage() async throws {
        let data = try fixture("progressive.jpg")
        await WorkExecutor("damage", threads: 1).run {
            var generator = SeededGenerator(state: 11)
            for _ in 0..<400 {
                var damaged = data
                for _ in 0..<Int.random(in: 1...8, using: &generator) {
                    damaged[Int.random(in: 2..<data.count, using: &generator)] = UInt8.random(
                        in: 0...255,
                        using: &generator
                    )
                }
                guard
                    let decoder = try? ProgressiveJPEG(
                        options: DecodingOptions(limits: ImageDecodingLimits(maxPixelCount: 1 << 20))
                    )
                else { continue }
                let size = Int.random(in: 1...400, using: &generator)
                for start in stride(from: 0, to: damaged.count, by: size) {
                    decoder.append(damaged.dropFirst(start).prefix(size))
                    guard decoder.scanCount > 1 else { continue }
                    _ = try? decoder.image(afterScan: decoder.scanCount - 1)
                }
            }
        }
    }

    @Test("After a failure later scans fail with the same error") func finalFailure() throws {
        var data = try fixture("progressive.jpg")
        // The third scan claims a component that does not exist.
        data[scans(of: data)[2] + 5] = 77
        let decoder = try ProgressiveJPEG()
        decoder.append(data)
        #expect(try decoder.image(afterScan: 2).pixelWidth == 96)
        let first = #expect(throws: ImagingError.self) { try decoder.image(afterScan: 3) }
        let second = #expect(throws: ImagingError.self) { try decoder.image(afterScan: 4) }
        #expect(first == second)
    }
}
