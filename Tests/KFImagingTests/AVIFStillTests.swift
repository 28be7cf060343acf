// Still AVIF pictures by dav1d itself: the pixels libavif would give, and silence about damaged data. Knows nothing of what
// they show.

import CKFCodecs
import Foundation
import KFImaging
import KFSupport
import Testing

/// What a decoder made of a picture.
private enum Outcome: Equatable {
    case pixels([UInt8])
    case failure(kf_status.RawValue)
}

/// An open AVIF, and the bytes it lies in.
private final class OpenAVIF {
    private let bytes: [UInt8]
    private let handle: OpaquePointer
    private let header: kf_avif_header

    init?(_ data: Data) {
        var (header, message) = (kf_avif_header(), kf_message())
        bytes = [UInt8](data)
        // SAFETY: the array is never changed, so its memory stays where it is for as long as the reader looks at it.
        let handle = bytes.withUnsafeBufferPointer { kf_avif_open($0.baseAddress, $0.count, &header, &message) }
        guard let handle else { return nil }
        self.handle = handle
        self.header = header
    }

    deinit { kf_avif_close(handle) }

    /// Has libavif decode from here on; false when it has done so before.
    func leaveToLibavif() -> Bool { kf_avif_leave_to_libavif(handle) }

    func read(premultiplied: Bool) -> Outcome {
        var message = kf_message()
        let stride = Int(header.width) * 4
        var rows = [UInt8](repeating: 0, count: stride * Int(header.height))
        let status = kf_avif_read(handle, 0, &rows, stride, premultiplied, &message)
        return status == KF_OK ? .pixels(rows) : .failure(status.rawValue)
    }
}

private let stills = [
    "photo.avif", "deep.avif", "alpha.avif", "rotated.avif", "mirrored.avif", "pq.avif", "grey-odd.avif",
    "alpha-premultiplied.avif", "alpha-deep.avif", "cropped.avif", "tiles.avif", "grainy.avif", "display-p3.avif",
    "limited.avif", "limited-deep.avif",
]

@Suite struct AVIFStillTests {
    @Test(arguments: [("limited.avif", 2), ("limited-deep.avif", 0)])
    func valuesWithoutTheEndsOfTheRangeAreWhatTheFormulaSays(name: String, tolerance: Int) throws {
        // Steps of 8 bits are wider there than those of the pixels, so a little is lost by writing.
        let bitmap = try picture(name).bitmap()
        #expect(bitmap.width == 64 && bitmap.height == 8)
        for y in 0..<8 {
            for x in 0..<64 {
                let (r, b) = (UInt8(x * 255 / 63), UInt8((x * 4 + y * 32) % 256))
                #expect(bitmap[x, y].isNear(Pixel(r: r, g: 255 - r, b: b), within: tolerance), "\(x), \(y)")
            }
        }
    }

    @Test(arguments: stills, [false, true])
    func dav1dGivesThePixelsThatLibavifDoes(name: String, premultiplied: Bool) throws {
        let avif = try #require(OpenAVIF(fixture(name)))
        let own = avif.read(premultiplied: premultiplied)
        #expect(avif.leaveToLibavif(), "dav1d was not asked")
        let areEqual = own == avif.read(premultiplied: premultiplied)
        #expect(areEqual)
        guard case .pixels = own else {
            Issue.record("the picture was not decoded")
            return
        }
    }

    @Test func coloursAndTransparencyMayStandInEitherOrder() throws {
        let data = try fixture("alpha.avif")
        let (one, other) = try (#require(OpenAVIF(data)), #require(OpenAVIF(data.withItemsExchanged())))
        let areEqual = one.read(premultiplied: true) == other.read(premultiplied: true)
        #expect(areEqual)
        #expect(other.leaveToLibavif(), "dav1d was not asked")
    }

    @Test(arguments: ["grid.avif", "sequence.avif", "sequence-p3.avif"])
    func whatIsNoPlainStillIsLeftToLibavif(name: String) throws {
        let avif = try #require(OpenAVIF(fixture(name)))
        #expect(!avif.leaveToLibavif())
        #expect(throws: Never.self) { try Codecs.decode(fixture(name)) }
    }

    /// The container is believed about the size, and libavif scales what has another.
    @Test func aPictureOfAnotherSizeThanAnnouncedIsLeftToLibavif() throws {
        var data = try fixture("photo.avif")
        let place = try #require(data.range(of: Data("ispe".utf8))).upperBound + 4
        #expect(data[place + 3] == 96)
        data[place + 3] = 90
        let avif = try #require(OpenAVIF(data))
        let first = avif.read(premultiplied: true)
        #expect(!avif.leaveToLibavif())
        #expect(first == avif.read(premultiplied: true))
    }

    @Test func transparencyThatLeavesOutTheEndsOfTheRangeIsStretched() throws {
        let avif = try #require(OpenAVIF(fixture("alpha-limited.avif")))
        let first = avif.read(premultiplied: false)
        #expect(!avif.leaveToLibavif())
        guard case .pixels(let bytes) = first else {
            Issue.record("the picture was not decoded")
            return
        }
        let alphas = stride(from: 3, to: bytes.count, by: 4).map { bytes[$0] }
        #expect(alphas.min() == 0 && alphas.max() == 255)
    }

    @Test func theContainersCropAndTurnsAreApplied() throws {
        let image = try picture("cropped.avif")
        #expect(image.pixelWidth == 30 && image.pixelHeight == 40)
    }

    @Test func cropsWithOddEdgesAreAppliedWhateverTheSizeOfChroma() throws {
        let whole = try fixture("cropped.avif")
        let box = try #require(whole.range(of: Data("clap".utf8))).upperBound
        // Of 80 × 60 pixels the 39 × 29 from (11, 13) on, where the file says 40 × 30 from (10, 12): size, and way from one
        // middle to the other, as fractions.
        let numbers: [Int32] = [39, 1, 29, 1, -19, 2, -5, 2]
        var odd = whole
        let content = numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        odd.replaceSubrange(box..<box + 32, with: content)
        let (even, cropped) = (try #require(Image(data: whole)), try #require(Image(data: odd)))
        #expect(cropped.pixelWidth == 29 && cropped.pixelHeight == 39)
        // The first column and row are gone, which the file's turn and mirroring make the last row and column.
        let part = try #require(even.cgImage?.cropping(to: CGRect(x: 0, y: 0, width: 29, height: 39)))
        #expect(cropped.cgImage?.rows == part.rows)
    }

    @Test func partsOfAGridMayBeMuchTallerThanThePicture() throws {
        let image = try picture("grid-strip.avif")
        #expect(image.pixelWidth == 190 && image.pixelHeight == 40)
        let bitmap = try image.bitmap()
        for (x, y) in [(3, 3), (185, 3), (3, 37), (98, 37), (101, 37), (185, 37)] {
            let (u, v) = (Double(x) / 199, Double(y) / 99)
            let expected = [40 + 200 * u, 30 + 190 * v, 220 - 120 * u * v]
            let pixel = bitmap[x, y]
            let isClose = zip([pixel.r, pixel.g, pixel.b], expected).allSatisfy { abs(Double($0) - $1) < 8 }
            #expect(isClose, "\(pixel) at \(x), \(y)")
        }
    }

    @Test func brokenDataIsAnError() throws {
        var data = try fixture("photo.avif")
        // The frame's own header, behind the delimiter's two bytes and the sequence header.
        let header = try #require(data.range(of: Data([0x12, 0x00, 0x0A]))).upperBound
        let frame = header + 1 + Int(data[header])
        #expect(data[frame] == 0x32)
        for offset in frame + 3..<frame + 6 { data[offset] = 0xFF }
        #expect(Codecs.diagnose(data) == .malformed(.avif, detail: "the coded picture is broken"))
    }
}

/// Libraries do not write to the terminal.
@Suite struct SilenceTests {
    /// What is written to the standard error output while `body` runs, on a thread that has its own; nil when the system
    /// gives it none.
    private func written(by body: @escaping @Sendable () -> Void) async throws -> String? {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("silence-\(UUID().uuidString)").path
        defer { unlink(path) }
        let isSeparate: Bool = await withCheckedContinuation { continuation in
            let thread = Thread {
                guard let file = separateErrors(path) else { return continuation.resume(returning: false) }
                body()
                close(file)
                continuation.resume(returning: true)
            }
            thread.start()
        }
        return isSeparate ? try String(contentsOfFile: path, encoding: .utf8) : nil
    }

    @Test func whatIsWrittenIsSeen() async throws {
        let text = try await written { _ = "seen".withCString { write(2, $0, 4) } }
        #expect(text == nil || text == "seen")
    }

    @Test(arguments: stills)
    func damagedPicturesAreNotCommentedUpon(name: String) async throws {
        let data = try fixture(name)
        let text = try await written {
            var dice = Dice(state: UInt64(data.count))
            for place in data.indices {
                var damaged = data
                damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
                _ = OpenAVIF(damaged)?.read(premultiplied: true)
                if place % 8 == 0 { _ = OpenAVIF(data.prefix(place))?.read(premultiplied: true) }
            }
        }
        #expect(text == nil || text == "")
    }
}

/// Gives the calling thread file descriptors of its own, of which the second is a new file.
///
/// That no other is copied lets other threads' sockets close when these close them.
private func separateErrors(_ path: String) -> Int32? {
    typealias CloseRange = @convention(c) (UInt32, UInt32, Int32) -> Int32
    guard let symbol = dlsym(nil, "close_range") else { return nil }
    // SAFETY: this is its signature, in every C library that has it.
    let closeRange = unsafeBitCast(symbol, to: CloseRange.self)
    let unshare: Int32 = 2
    guard closeRange(3, .max, unshare) == 0 else { return nil }
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    return file >= 0 && dup2(file, 2) == 2 ? file : nil
}

extension Data {
    private func number(at offset: Int) -> Int { self[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

    private mutating func setNumber(_ value: Int, at offset: Int) {
        for index in 0..<4 { self[offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
    }

    /// The file of two items in a row, its last box, with the second first.
    fileprivate func withItemsExchanged() throws -> Data {
        let start = try #require(range(of: Data("mdat".utf8))).upperBound
        let places = 0..<start - 16
        let first = try #require(places.first { number(at: $0) == start })
        let length = number(at: first + 4)
        let second = try #require(places.first { number(at: $0) == start + length })
        var copy = self
        copy.setNumber(start + number(at: second + 4), at: first)
        copy.setNumber(start, at: second)
        copy.replaceSubrange(start..., with: self[(start + length)...] + self[start..<start + length])
        return copy
    }
}
