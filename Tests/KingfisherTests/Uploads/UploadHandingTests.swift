// Files of uploads that are taken one by one as they are ready.

import Dispatch
import Foundation
import KFImaging
import KFSupport
import Testing

@testable import Kingfisher

/// Writes one PNG in place of every image; its first two encodings wait for each other.
private final class MeetingCoder: ImageCoder {
    struct Alone: Error {}

    static let type = ImageContentType(rawValue: "test.meeting")
    let begun = Counter()
    private let images = Box<[WeakImage]>([])
    private let file: Data
    private let meeting = DispatchSemaphore(value: 0)

    /// How many of the images are in memory still.
    var alive: Int { images.value.count { $0.image != nil } }

    init(_ file: Data) { self.file = file }

    func canEncode(_ type: ImageContentType) -> Bool { type == Self.type }

    func encode(_ image: Image, as type: ImageContentType, options: ImageEncodingOptions) throws -> Data {
        images.change { $0.append(WeakImage(image: image)) }
        switch begun.add() {
        case 1: guard meeting.wait(timeout: .now() + 60) == .success else { throw Alone() }
        case 2: meeting.signal()
        default: break
        }
        return file
    }
}

private struct WeakImage: Sendable {
    weak let image: Image?
}

@Suite struct UploadHandingTests {
    private struct Full: Error {}

    private static var options: UploadOptions {
        var options = UploadOptions()
        options.limits.isolation = .inProcess
        return options
    }

    private let variants = [120, 60, 30].map { width in
        UploadVariant("w\(width)", width: width, encodings: [ImageEncoding(.webp), ImageEncoding(.jpeg)])
    }

    @Test("Each file is handed over once, one at a time, with the bytes that it has in a result")
    func files() async throws {
        let data = try SampleImage.png(200, 100)
        let handed = Box<[String: Data]>([:]), calls = Counter(), running = Counter(), overlaps = Counter()
        let facts = try await Upload.processing(data, into: variants, options: Self.options) { file in
            if running.add() > 1 { overlaps.add() }
            calls.add()
            for _ in 0..<20 { await WorkExecutor.cpu.run {} }
            handed.change { $0[file.fileName] = file.image.data }
            running.add(-1)
        }
        let whole = try await Upload.processing(data, into: variants, options: Self.options)
        #expect(calls.value == 6 && overlaps.value == 0 && whole.files.count == 6)
        for file in whole.files { #expect(handed.value[file.fileName] == file.image.data, "\(file.fileName)") }
        #expect(facts.blurHash == whole.facts.blurHash && facts.displayedWidth == 200)
    }

    @Test("What the closure throws is thrown on, and it is not called again")
    func failures() async throws {
        let (data, calls) = (try SampleImage.png(200, 100), Counter())
        await #expect(throws: Full.self) {
            try await Upload.processing(data, into: variants, options: Self.options) { _ in
                if calls.add() == 2 { throw Full() }
            }
        }
        #expect(calls.value == 2)
        try await withTemporaryDirectory { directory in
            let place = directory.appending(path: "a.png")
            try data.write(to: place)
            await #expect(throws: Full.self) {
                try await Upload.processing(file: place, into: variants, options: Self.options) { _ in throw Full() }
            }
        }
    }

    @Test("The closure runs in the caller's task: once that is cancelled, no other file is handed over")
    func cancelling() async throws {
        let (data, variants, calls) = (try SampleImage.png(200, 100), variants, Counter())
        let code = await Task {
            do {
                try await Upload.processing(data, into: variants, options: Self.options) { _ in
                    calls.add()
                    withUnsafeCurrentTask { $0?.cancel() }
                }
                return "all"
            } catch {
                return (error as? UploadError)?.code ?? "\(error)"
            }
        }.value
        #expect(code == "cancelled" && calls.value == 1)
    }

    /// Runs in a process of its own, because threads and coders are those of the whole process.
    @Test("Files are encoded side by side, at most threads and one ahead of the closure; sizes are let go of")
    func bounds() async {
        await #expect(processExitsWith: .success) {
            PixelThreads.count = 2
            let coder = MeetingCoder(try SampleImage.png(8, 8))
            ImageCodersManager.shared.add(coder)
            let variants = (1...12).map { number in
                UploadVariant("w\(number)", width: 10 * number, encodings: [ImageEncoding(MeetingCoder.type)])
            }
            let mostAhead = Box(0), mostAlive = Box(0), taken = Counter()
            let data = try SampleImage.png(200, 100)
            try await Upload.processing(data, into: variants, options: UploadHandingTests.options) { _ in
                // What waits for a thread comes first.
                for _ in 0..<20 { await WorkExecutor.cpu.run {} }
                let ahead = coder.begun.value - taken.value
                mostAhead.change { $0 = max($0, ahead) }
                mostAlive.change { $0 = max($0, coder.alive) }
                taken.add()
            }
            guard mostAhead.value <= 3, mostAlive.value <= 6, coder.begun.value == 12, taken.value == 12 else {
                print(mostAhead.value, mostAlive.value, coder.begun.value, taken.value)
                exit(1)
            }
            exit(0)
        }
    }
}
