// Decoder processes: the same results as in this process, whatever they do or is done to them.

import Foundation
import KFSupport
import KingfisherTestSupport
import Synchronization
import Testing

@testable import KFImaging

/// A program that was built with the tests.
private func program(_ name: String) throws -> DecoderProgram {
    DecoderProgram(path: try #require(ProgramFolders.own.last) + "/" + name)
}

/// A pool of decoders.
private func pool(_ name: String = "kf-decoder", size: Int = 1) throws -> DecoderPool {
    let program = try program(name)
    return DecoderPool({ program }, size: { size })
}

private let unlimited: ImageDecodingLimits = {
    var limits = ImageDecodingLimits()
    limits.isolation = .inProcess
    return limits
}()

extension DecoderPool.File {
    fileprivate init(_ data: Data, _ limits: ImageDecodingLimits = unlimited) {
        self.init(data: data, type: ImageContentType(sniffing: data) ?? .unknown, limits: limits)
    }
}

extension DecoderPool {
    /// The whole first image.
    fileprivate func image(_ data: Data, _ limits: ImageDecodingLimits = unlimited) throws(ImagingError) -> DecodedImage
    {
        try image(File(data, limits), DecodingOptions(limits: limits))
    }

    /// Why there is none.
    fileprivate func reason(_ data: Data, _ limits: ImageDecodingLimits = unlimited) -> String? {
        do throws(ImagingError) {
            _ = try image(data, limits)
            return nil
        } catch {
            if case .decoderEnded(.png, let reason) = error { return reason }
            return "\(error)"
        }
    }
}

extension Bitmap {
    fileprivate var content: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// An image of colours that differ, 20 pixels wide.
private let sample: Data = {
    let rows = (0..<15).map { y in
        (0..<20).map { x in
            let (red, green, blue) = (UInt32(x * 12), UInt32(y * 16), UInt32(x * y))
            return 0xFF00_0000 | red << 16 | green << 8 | blue
        }
    }
    return (try? Codecs.encode(Image(cgImage: .of(rows)), as: .png)) ?? Data()
}()

/// The sample, which makes the planted decoder do something.
private func sample(_ misdeed: String) -> Data { sample + Data("misdeed=\(misdeed)".utf8) }

@Suite(.tags(.processes)) struct IsolatedResultTests {
    /// Everything that is known about an image, or the error.
    private func description(_ data: Data, _ options: DecodingOptions) -> (text: String, content: [UInt8]) {
        do throws(ImagingError) {
            let image = try Codecs.decode(data, options: options)
            let bitmap = image.cgImage
            let facts: [Any?] = [
                image.contentType?.rawValue, bitmap?.width, bitmap?.height, bitmap?.hasAlpha, image.imageOrientation,
                image.scale, image.frameCount, image.isDamaged, image.isDecoded(from: data),
            ]
            return ("\(facts)", bitmap?.content ?? [])
        } catch {
            return ("\(error)", [])
        }
    }

    private func options(_ isolation: DecodingIsolation) -> [DecodingOptions] {
        var limits = ImageDecodingLimits(maxPixelCount: 1 << 22)
        limits.isolation = isolation
        var box = DecodingOptions(scale: 2, limits: limits)
        box.thumbnail = Thumbnail(width: 9, height: 30, mode: .fill, anchor: .smart, enlarges: true)
        var middle = DecodingOptions(limits: limits)
        middle.thumbnail = Thumbnail(width: 9, height: 7, mode: .exact, anchor: .center, enlarges: true)
        middle.thumbnail?.coverage = PixelExtent(width: 0.9, height: 1.02)
        var strict = ImageDecodingLimits(maxPixelCount: 100)
        strict.isolation = isolation
        return [
            DecodingOptions(limits: limits), DecodingOptions(maxPixelSize: 17, limits: limits), box,
            middle, DecodingOptions(limits: strict),
        ]
    }

    private func compare(_ data: Data) {
        for (here, there) in zip(options(.inProcess), options(.required)) {
            let (expected, found) = (description(data, here), description(data, there))
            #expect(found.text == expected.text)
            #expect(found.content == expected.content)
        }
    }

    @Test("A decoder gives the same image or error", arguments: try allFixtureNames())
    func still(name: String) throws {
        let file = try fixture(name)
        for data in [file, file.prefix(file.count / 2), file.prefix(40)] { compare(data) }
    }

    @Test("A decoder gives the same image or error for inputs that fuzzing found", arguments: try corpusFiles())
    func corpus(name: String) throws { compare(try corpusFile(name)) }

    @Test("A decoder gives the same header and EXIF", arguments: try allFixtureNames())
    func header(name: String) throws {
        let data = try fixture(name)
        guard let type = ImageContentType(sniffing: data), let codec = Codecs.builtIn(type), !codec.isReadByProgram
        else { return }
        let file = DecoderPool.File(data)
        let here = Result { () throws(ImagingError) in
            try data.withBytes { bytes throws(ImagingError) in try codec.info(bytes) }
        }
        #expect(Result { () throws(ImagingError) in try DecoderPool.shared.info(file) } == here)
        #expect(try DecoderPool.shared.exif(file) == data.withUnsafeBytes { codec.exif($0) })
    }

    @Test("A decoder gives the same frames", arguments: try allFixtureNames())
    func frames(name: String) throws {
        let data = try fixture(name)
        var limits = unlimited
        let here = try? Codecs.frameSource(of: data, limits: limits)
        limits.isolation = .required
        let there = try? Codecs.frameSource(of: data, limits: limits)
        #expect((here == nil) == (there == nil))
        guard let here = here.flatMap({ $0 }), let there = there.flatMap({ $0 }) else { return }
        #expect(there.frameCount == here.frameCount)
        #expect(there.loopCount == here.loopCount)
        for index in 0..<min(12, here.frameCount) {
            #expect(there.duration(at: index) == here.duration(at: index))
            #expect(there.frame(at: index)?.content == here.frame(at: index)?.content)
        }
        let (last, another) = (min(11, here.frameCount - 1), there.copy())
        #expect(another.frame(at: last)?.content == here.frame(at: last)?.content)
    }

    @Test("An image larger than the memory that is kept arrives whole, and so does the next one") func large() throws {
        let image = try Bitmap.make(width: 5_000, height: 4_000, hasAlpha: false) { memory, _ in
            for place in stride(from: 0, to: memory.count, by: 4) {
                memory.storeBytes(
                    of: UInt32(truncatingIfNeeded: place / 40_000) | 0xFF00_0000,
                    toByteOffset: place,
                    as: UInt32.self
                )
            }
        }
        let pool = try pool()
        // What follows the end of a PNG is not looked at.
        let data = try Codecs.encode(Image(cgImage: image), as: .png) + Data(count: DecoderProcess.keptMemory)
        for _ in 0..<2 { #expect(try pool.image(data).bitmap.content == image.content) }
        #expect(try pool.image(sample).bitmap.size == PixelSize(20, 15))
        #expect(pool.processes.count == 1)
    }
}

@Suite(.tags(.processes)) struct IsolationTests {
    @Test(
        "Whatever a decoder does, it ends and is named, and the next image decodes",
        arguments: [
            ("readsPasswords", "exit code 13"), ("writesFile", "exit code 13"), ("connects", "signal 31"),
            ("startsProgram", "signal 31"), ("takesMemory", "exit code 12"), ("crashes", "signal 11"),
            ("answersGarbage", "without sense"), ("claimsSizes", "maxPixelCount"), ("claimsLength", "without sense"),
            ("closesConnection", "exit code 0"),
        ]
    )
    func misdeed(name: String, words: String) throws {
        let pool = try pool("kf-planted-decoder")
        let reason = try #require(pool.reason(sample(name)))
        #expect(reason.contains(words), "\(reason)")
        #expect(try pool.image(sample).bitmap.size == PixelSize(20, 15))
        #expect(pool.processes.count == 1)
    }

    @Test("A decoder that does not come to an end is ended") func loops() throws {
        let pool = try pool("kf-planted-decoder")
        var limits = unlimited
        limits.maxDecodingDuration = 0.3
        let reason = try #require(pool.reason(sample("loops"), limits))
        #expect(reason.contains("maxDecodingDuration = 0.3"))
        #expect(try pool.image(sample).bitmap.size == PixelSize(20, 15))
    }

    @Test("A second answer is not taken for that of the next image") func answersTwice() throws {
        let pool = try pool("kf-planted-decoder")
        for _ in 0..<5 {
            _ = pool.reason(sample("answersTwice"))
            #expect(try pool.image(sample).bitmap.content == Codecs.decode(sample).cgImage?.content)
        }
    }

    @Test("Pixels are opaque where the decoder says that all are") func claimsOpacity() throws {
        let bitmap = try pool("kf-planted-decoder").image(sample("claimsOpacity")).bitmap
        #expect(!bitmap.hasAlpha && bitmap.size == PixelSize(2, 1))
        #expect(bitmap[0, 0].a == 255 && bitmap[1, 0].a == 255)
    }

    @Test("An animation larger than the limit is the error of the limit") func claimsCanvas() throws {
        let expected = ImagingError.limitExceeded(
            limit: "maxPixelCount",
            allowed: unlimited.maxPixelCount,
            width: 1 << 16,
            height: 1 << 16
        )
        let pool = try pool("kf-planted-decoder")
        #expect(throws: expected) { try pool.frames(DecoderPool.File(sample("claimsCanvas"))) }
    }

    @Test("An image for which there is no memory beside open animations is decoded by another process")
    func lackOfMemory() throws {
        let pool = try pool("kf-planted-decoder")
        let animation = try fixture("animated.png")
        let frames = OnDemandFrameSource(try #require(try pool.frames(DecoderPool.File(animation))), data: animation)
        let processes = pool.processes
        #expect(try pool.image(sample("lacksMemoryBesideAnimations")).bitmap.size == PixelSize(20, 15))
        #expect(pool.processes == processes)
        #expect(frames.frame(at: 1) != nil)
    }

    @Test("An image for which there is no memory is not decoded twice") func noMemory() throws {
        let pool = try pool("kf-planted-decoder")
        _ = try pool.image(sample)
        let processes = pool.processes
        #expect(throws: ImagingError.outOfMemory(bytes: nil)) { try pool.image(sample("lacksMemory")) }
        #expect(pool.processes == processes)
    }

    @Test("Files that are decoded at once have a process each, as many as the pool may have; further ones share them")
    func size() throws {
        let pool = try pool(size: 2)
        let file = DecoderPool.File(sample)
        let numbers = try pool.use(for: file) { first throws(DecoderFailure) in
            try? pool.use(for: file) { second throws(DecoderFailure) in
                try? pool.use(for: file) { third throws(DecoderFailure) in [first, second, third].map(\.number) }
            }
        }
        let busy = try #require(numbers)
        #expect(busy[0] != busy[1] && busy[..<2].contains(busy[2]))
        #expect(pool.processes == Array(busy[..<2]), "Both stay for the next files.")
    }

    @Test("A process without work ends; one at work does not", .timeLimit(.minutes(1))) func idleness() throws {
        let program = try program("kf-decoder")
        let pool = DecoderPool({ program }, size: { 2 }, secondsOfIdleness: 0.01)
        try pool.use(for: DecoderPool.File(sample)) { busy throws(DecoderFailure) in
            #expect((try? pool.image(sample)) != nil)
            while pool.processes.count > 1, !Task.isCancelled { sched_yield() }
            #expect(pool.processes == [busy.number])
        }
        while !pool.processes.isEmpty, !Task.isCancelled { sched_yield() }
        #expect(try pool.image(sample).bitmap.size == PixelSize(20, 15))
    }

    @Test("An animation goes on when its process has ended without work", .timeLimit(.minutes(1)))
    func idleAnimation() throws {
        let program = try program("kf-decoder")
        let pool = DecoderPool({ program }, size: { 1 }, secondsOfIdleness: 0.01)
        let data = try fixture("animated.png")
        let expected = try #require(try Codecs.frameSource(of: data, limits: unlimited))
        let frames = OnDemandFrameSource(try #require(try pool.frames(DecoderPool.File(data))), data: data)
        for index in 0..<2 {
            while !pool.processes.isEmpty, !Task.isCancelled { sched_yield() }
            #expect(frames.frame(at: index)?.content == expected.frame(at: index)?.content)
        }
    }

    @Test("A file that has ended two decoders is refused, and others are not") func refusal() throws {
        let pool = try pool("kf-planted-decoder")
        #expect(pool.reason(sample("crashes"))?.contains("signal 11") == true)
        let before = pool.processes
        #expect(pool.reason(sample("crashes"))?.contains("ten minutes") == true)
        #expect(pool.processes == before)
        #expect(pool.reason(sample("readsPasswords"))?.contains("exit code 13") == true)
        #expect(try pool.image(sample).bitmap.size == PixelSize(20, 15))
    }

    @Test("Without a program, required isolation is an error that says what to do") func noProgram() throws {
        let pool = DecoderPool({ nil })
        #expect(try pool.forUse(.inProcess) == nil)
        #expect(try pool.forUse(.sandboxed) == nil)
        let error = #expect(throws: ImagingError.self) { try pool.forUse(.required) }
        #expect(error?.description.contains("KF_DECODER") == true)
    }

    @Test("A program that is no decoder cannot be used", arguments: ["/bin/true", "/bin/cat", "/nowhere/kf-decoder"])
    func otherProgram(path: String) throws {
        let pool = DecoderPool({ DecoderProgram(path: path) })
        let error = #expect(throws: ImagingError.self) { try pool.forUse(.required) }
        #expect(error?.description.contains("locked process") == true)
    }

    @Test("The status says which locks are in force") func status() throws {
        let status = DecodingIsolation.status
        #expect(status.program?.hasSuffix("kf-decoder") == true)
        #expect(status.seccomp && status.limits && status.obstacle == nil)
    }

    @Test("Without Landlock decoders are locked by seccomp, and say so") func withoutLandlock() throws {
        let decoder = DecoderProgram(path: try decoderWithoutLandlock())
        let pool = DecoderPool({ decoder }, size: { 1 })
        let greeting = try #require(pool.availability().greeting)
        #expect(greeting.landlock == 0 && greeting.seccomp && greeting.limits)
        #expect(try pool.image(sample).bitmap.content == Codecs.decode(sample).cgImage?.content)
    }

    @Test("A process is replaced after a thousand images, and none is left behind") func replacement() throws {
        var pool: DecoderPool? = try pool()
        var seen: [Int32] = []
        for _ in 0...DecoderPool.mostImages {
            _ = try pool?.image(sample)
            for number in pool?.processes ?? [] where !seen.contains(number) { seen.append(number) }
        }
        #expect(seen.count == 2)
        pool = nil
        for number in seen { #expect(!FileManager.default.fileExists(atPath: "/proc/\(number)")) }
    }

    /// A process that is at work, and whose parent has closed its connection when this returns.
    private func abandonedDecoder() throws -> ChildProcess {
        let (child, socket) = try program("kf-planted-decoder").start()
        _ = try DecoderGreeting(socket.receive().bytes)
        let (input, output) = (try SharedMemory(toWrite: 1 << 16), try SharedMemory(toRead: 1 << 16))
        let file = sample("loops")
        file.withUnsafeBytes { input.bytes.copyMemory(from: $0) }
        var request = DecoderRequest(1, .info, unlimited)
        (request.byteCount, request.bringsInput, request.bringsOutput) = (file.count, true, true)
        try socket.send(request.message, files: [input.file, output.file])
        #expect(child.waitForEnd(within: 0.2) == nil)
        return child
    }

    @Test(
        "A decoder that cannot lock itself says what failed",
        .enabled(if: getuid() == 0, "others have nothing to drop")
    )
    func unlockableDecoder() throws {
        let decoder = DecoderProgram(path: try decoder("in-a-service"))
        let pool = DecoderPool({ decoder })
        #expect(
            pool.availability().obstacle?.contains("cannot lock itself: dropping capabilities: Operation not") == true
        )
    }

    @Test("A decoder ends with its parent, even while it decodes") func parentEnds() throws {
        #expect(try abandonedDecoder().waitForEnd(within: 120) == .exited(0))
    }

    @Test("Bytes that are no message are no request and no answer") func malformedMessages() {
        var random = SeededGenerator(state: 45)
        for _ in 0..<5_000 {
            let values = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                Int64.random(in: Bool.random(using: &random) ? 0...5 : Int64.min...Int64.max, using: &random)
            }
            let bytes = values.withUnsafeBytes { Array($0) }
            _ = DecoderRequest(bytes)
            _ = try? AnswerHeader(bytes)
            _ = try? DecoderGreeting(bytes)
            var readers = (MessageReader(bytes), MessageReader(bytes), MessageReader(bytes))
            _ = try? readers.0.info(of: .png, byteCount: 9)
            _ = try? readers.1.error()
            if let animation = try? readers.2.animation(unlimited) {
                #expect(animation.frames.allSatisfy { $0.x >= 0 && $0.delay >= 0 })
            }
        }
    }
}

@Suite(.tags(.processes), .serialized) struct KilledDecoderTests {
    /// How many processes are killed; more when that is asked for.
    private static let kills = ProcessInfo.processInfo.environment["KF_KILLS"].flatMap { Int($0) } ?? 60

    @Test("No image is lost or wrong when decoders are killed from outside") func stills() throws {
        let pool = try pool(size: 2)
        let names = ["photo.jpg", "alpha.png", "alpha.webp", "frames.gif"].filter { (try? fixture($0)) != nil }
        let files = try (names.map(fixture) + [sample]).map { data in
            (data: data, content: try #require(Codecs.decode(data).cgImage).content)
        }
        let lost = Atomic(0)
        let killed = Atomic(0)
        // Each fifth image kills a process first: while another thread decodes in it, or before it is used again.
        DispatchQueue.concurrentPerform(iterations: Self.kills * 5) { index in
            if index.isMultiple(of: 5), let number = pool.processes.randomElement() {
                kill(number, SIGKILL)
                killed.add(1, ordering: .relaxed)
            }
            let file = files[index % files.count]
            let content = (try? pool.image(file.data))?.bitmap.content
            if content != file.content { lost.add(1, ordering: .relaxed) }
        }
        #expect(lost.load(ordering: .relaxed) == 0)
        #expect(killed.load(ordering: .relaxed) > Self.kills / 2)
    }

    @Test("An animation goes on at its frame when its decoder is killed", arguments: ["animated.png", "animated.webp"])
    func frames(name: String) throws {
        let data = try fixture(name)
        let pool = try pool()
        let expected = try #require(try Codecs.frameSource(of: data, limits: unlimited))
        let decoder = try #require(try pool.frames(DecoderPool.File(data)))
        let source = OnDemandFrameSource(decoder, data: data)
        for index in 0..<expected.frameCount {
            for number in pool.processes { kill(number, SIGKILL) }
            #expect(source.frame(at: index)?.content == expected.frame(at: index)?.content)
        }
        #expect(!source.isDamaged)
    }

    @Test("More animations than a decoder holds open take turns") func manyAnimations() throws {
        let data = try fixture("animated.png")
        let pool = try pool()
        let first = try #require(try Codecs.frameSource(of: data, limits: unlimited)?.frame(at: 1)).content
        let sources = try (0..<20).map { _ in
            OnDemandFrameSource(try #require(try pool.frames(DecoderPool.File(data))), data: data)
        }
        for _ in 0..<2 { for source in sources { #expect(source.frame(at: 1)?.content == first) } }
        #expect(pool.processes.count == 1)
    }
}
