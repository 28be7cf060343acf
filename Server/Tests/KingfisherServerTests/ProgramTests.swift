// The program: what it says about its configuration, how it begins and ends.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProgramTests {
    @Test("Without a key it serves no others than this machine, unless that is asked for, and says what to do")
    func protection() throws {
        for command in [["check"], ["serve"], []] {
            let (status, _, errors) = try run(command, ["KF_BIND": "0.0.0.0:0"])
            #expect(status == 1)
            #expect(errors.contains("KF_KEY") && errors.contains("--unsafe"))
        }
        #expect(try run(["check"], ["KF_BIND": "127.0.0.1:0"]).status == 0)
        #expect(try run(["check", "--unsafe"], ["KF_BIND": "0.0.0.0:0"]).status == 0)
        #expect(try run(["check"], ["KF_KEY": "00", "KF_SALT": "00"]).status == 0)
    }

    @Test("check prints what is in force and what is wrong, but no key")
    func check() throws {
        let settings = ["KF_KEY": "736563726574", "KF_SALT": "68656c6c6f", "KF_QUALITY": "7", "KF_QUALTY": "8"]
        let (status, output, errors) = try run(["check"], settings)
        #expect(status == 1)
        #expect(output.contains("KF_QUALITY=7\n") && output.contains("KF_KEY=(set)\n"))
        #expect(errors.contains("error: KF_QUALTY"))
        #expect(!(output + errors).contains("736563726574") && !(output + errors).contains("68656c6c6f"))
    }

    @Test("Where images cannot be decoded in locked processes it does not start, unless that is allowed")
    func isolation() throws {
        var settings = ["KF_BIND": "127.0.0.1:0", "KF_DECODER": "/nowhere"]
        for command in ["check", "serve"] {
            let (status, _, errors) = try run([command], settings)
            #expect(status == 1 && errors.contains("KF_ISOLATION") && errors.contains("/nowhere"))
        }
        for (isolation, words) in [("sandboxed", "in this process, since"), ("none", "in this process\n")] {
            settings["KF_ISOLATION"] = isolation
            let (status, output, _) = try run(["check"], settings)
            #expect(status == 0 && output.contains("Decoders: \(words)"))
        }
        settings["KF_DECODER"] = nil
        settings["KF_ISOLATION"] = nil
        #expect(try run(["check"], settings).output.contains("Decoders: processes locked by"))
    }

    @Test("It serves until SIGTERM, and ends with 0")
    func ending() async throws {
        let (process, connection) = try await serving(["KF_BIND": "127.0.0.1:0"])
        try await connection.send("/health")
        #expect(try await connection.answer().text.hasPrefix("imgproxy is running\nDecoders: processes locked by"))
        process.terminate()
        #expect(await connection.isAtEnd())
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && process.terminationReason == .exit)
    }

    @Test("More clients than are allowed wait until others leave") func clients() async throws {
        let (process, first) = try await serving(["KF_BIND": "127.0.0.1:0", "KF_MAX_CLIENTS": "1"])
        defer { process.terminate() }
        try await first.send("/health")
        #expect(try await first.answer().status == 200)
        let second = try await RawConnection(port: first.port)
        try await second.send("/health")
        // Whoever is connected is still answered.
        for _ in 0..<5 {
            try await first.send("/health")
            #expect(try await first.answer().status == 200)
        }
        #expect(!second.hasReceived)
        first.leave()
        #expect(try await second.answer().status == 200)
        second.leave()
    }

    @Test(
        "A decoder gets the memory that the largest source may take, unless URLs may permit larger ones",
        arguments: [(["KF_MAX_SRC_RESOLUTION": "1"], 1...2), (["KF_ALLOW_SECURITY_OPTIONS": "1"], 5...6)]
    )
    func memory(settings: [String: String], gigabytes: ClosedRange<Int>) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await madeUpImage().image.data.write(to: folder.appending(path: "image"))
        let own = ["KF_BIND": "127.0.0.1:0", "KF_LOCAL_FILESYSTEM_ROOT": folder.path, "KF_TIMEOUT": "300"]
        let (process, connection) = try await serving(settings.merging(own) { $1 })
        defer { process.terminate() }
        try await connection.send("/_/w:1/plain/local:///image@png")
        #expect(try await connection.answer().status == 200)
        let limits = try children(of: process.processIdentifier).map(addressSpace)
        #expect(!limits.isEmpty && limits.allSatisfy { gigabytes.contains($0 >> 30) }, "\(limits)")
        connection.leave()
    }

    @Test("With the defaults of imgproxy's documentation it starts, and says little about them")
    func imgproxysDefaults() async throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = tests.appending(path: "KFImageURLsTests/Resources/imgproxy-defaults.env").path
        let settings = ["IMGPROXY_ENV_LOCAL_FILE_PATH": file, "IMGPROXY_BIND": "127.0.0.1:0"]
        let (status, output, errors) = try run(["check"], settings)
        #expect(status == 0 && output.contains("KF_MAX_ANIMATION_FRAMES=1\n"))
        #expect(
            errors.split(separator: "\n").count <= 5 && errors.contains("IMGPROXY_REQUESTS_QUEUE_SIZE"),
            "\(errors)"
        )
        let (process, connection) = try await serving(settings)
        process.terminate()
        #expect(await connection.isAtEnd())
    }

    @Test("It says its version, in the first line of the log, too") func version() throws {
        let (status, output, _) = try run(["--version"], [:])
        #expect(status == 0)
        #expect(output.wholeMatch(of: #/kf-server \d+\.\d+\.\d+\S*\n/#) != nil, "\(output)")
        let pipe = Pipe()
        let process = program(["serve"], ["KF_BIND": "127.0.0.1:0", "KF_LOG_FORMAT": "text"])
        process.standardOutput = pipe
        try process.run()
        defer { process.terminate() }
        let line = try #require(try nextLine(of: pipe.fileHandleForReading))
        #expect(line.hasSuffix(" info \(output.dropLast())"), "\(line)")
    }

    @Test("Metrics have an address of their own, where nothing else is") func metricsAddress() async throws {
        let output = Pipe()
        let process = program(["serve"], ["KF_BIND": "127.0.0.1:0", "KF_PROMETHEUS_BIND": "127.0.0.1:0"])
        process.standardOutput = output
        try process.run()
        defer { process.terminate() }
        var ports: [Int] = []
        while ports.count < 2, let line = try nextLine(of: output.fileHandleForReading) {
            if line.contains("listening"), let match = line.firstMatch(of: #/127\.0\.0\.1:(\d+)/#) {
                ports.append(try #require(Int(match.output.1)))
            }
        }
        var statuses: Set<[Int]> = []
        for port in ports {
            let connection = try await RawConnection(port: port)
            var answers: [Int] = []
            for path in ["/metrics", "/health"] {
                try await connection.send(path)
                answers.append(try await connection.answer().status)
            }
            statuses.insert(answers)
            connection.leave()
        }
        #expect(statuses == [[200, 404], [404, 200]])
    }

    @Test(
        "A shop's environment of imgproxy serves the shop's images: signed, from S3, with its presets and its watermark"
    )
    func shop() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "imgproxy.env")
        let watermark = folder.appending(path: "logo.png")
        try #require(Quadrants.image(0, 0, border: 5, "black").pngData()).write(to: watermark)
        let store = try await TestServer.start()
        store.route("/products/shoe.jpg", .data(try Quadrants.jpeg(Quadrants.image(800, 400))))
        let lines = """
            # signed URLs
            IMGPROXY_KEY=736563726574
            IMGPROXY_SALT=68656c6c6f
            IMGPROXY_BIND=127.0.0.1:0
            IMGPROXY_PRESETS=default=resizing_type:fill/quality:70,card=size:200:200/gravity:sm,detail=size:600:300
            IMGPROXY_WATERMARK_PATH="\(watermark.path)"
            IMGPROXY_WATERMARK_OPACITY=0.5
            IMGPROXY_USE_S3=true
            IMGPROXY_S3_REGION=eu-central-1
            IMGPROXY_S3_ENDPOINT=\(store.url("").absoluteString)
            IMGPROXY_AUTO_WEBP=true
            export IMGPROXY_AUTO_AVIF=true
            IMGPROXY_KEEP_ALIVE_TIMEOUT=60
            IMGPROXY_TTL=86400
            IMGPROXY_MAX_SRC_RESOLUTION=30
            IMGPROXY_ALLOWED_SOURCES=s3://products/
            """
        try lines.write(to: file, atomically: true, encoding: .utf8)
        let settings = [
            "IMGPROXY_ENV_LOCAL_FILE_PATH": file.path, "AWS_ACCESS_KEY_ID": "ID", "AWS_SECRET_ACCESS_KEY": "secret",
            "XDG_CACHE_HOME": folder.path,
            // Longer than the busiest machine takes.
            "KF_TIMEOUT": "300", "KF_DOWNLOAD_TIMEOUT": "200", "KF_CONNECT_TIMEOUT": "200",
        ]
        let checked = try run(["check"], settings)
        #expect(checked.status == 0 && checked.errors.isEmpty, "\(checked.errors)")
        let (process, connection) = try await serving(settings)
        defer { process.terminate() }
        func answer(_ path: String, accept: String = "image/avif,image/webp,*/*") async throws -> Answer {
            let pair = SignatureRules.Pair(key: Array("secret".utf8), salt: Array("hello".utf8))
            try await connection.send("/\(SignatureRules().signature(of: path, with: pair))\(path)", ["Accept": accept])
            return try await connection.answer()
        }
        let source = "/plain/s3://products/shoe.jpg"
        for (accept, type) in [("image/avif,image/webp,*/*", "avif"), ("image/webp", "webp"), ("*/*", "jpeg")] {
            let card = try await answer("/preset:card" + source, accept: accept)
            #expect(card.status == 200 && card.fields["content-type"] == "image/\(type)", "\(card.text)")
            #expect(card.fields["cache-control"]?.contains("max-age=86400") == true && card.fields["vary"] == "Accept")
            let image = try #require(Image(data: Data(card.body)))
            #expect(image.pixelWidth == 200 && image.pixelHeight == 200)
        }
        // Black lies on yellow, half of it each.
        let marked = try await answer("/preset:detail/watermark:1:soea" + source + "@png")
        let bitmap = try #require(Image(data: Data(marked.body))?.cgImage)
        let corner = bitmap.withUnsafeBytes {
            $0[299 * bitmap.bytesPerRow + 599 * 4..<$0.count].prefix(4).map(Int.init)
        }
        #expect(zip(corner, [0, 128, 128, 255]).allSatisfy { abs($0 - $1) < 12 }, "\(corner)")
        #expect(try await answer("/preset:other" + source).status == 404)
        #expect(try await answer("/preset:card/plain/s3://secrets/a.jpg").status == 404)
        try await connection.send("/unsafe/preset:card" + source)
        #expect(try await connection.answer().status == 403)
        #expect(store.lastRequest("/products/shoe.jpg")?.header("Authorization")?.contains("eu-central-1") == true)
        connection.leave()
        await store.stop()
    }

    /// A server that runs, and a connection to it.
    func serving(_ settings: [String: String]) async throws -> (process: Process, connection: RawConnection) {
        let output = Pipe()
        let process = program(["serve"], settings)
        process.standardOutput = output
        try process.run()
        while let line = try nextLine(of: output.fileHandleForReading) {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let message = object?["message"] as? String, message.contains("listening") else { continue }
            let port = try #require(message.split(separator: ":").last.flatMap { Int($0) })
            return (process, try await RawConnection(port: port))
        }
        throw CocoaError(.fileReadUnknown)
    }

    /// The program that was built with these tests.
    private func program(_ arguments: [String], _ settings: [String: String]) -> Process {
        let process = Process()
        let tests = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = tests.appending(path: "kf-server")
        process.arguments = arguments
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("KF_") && $0.key != "PORT" }
        process.environment = inherited.merging(settings) { $1 }
        return process
    }

    func run(_ arguments: [String], _ settings: [String: String]) throws -> (
        status: Int32, output: String, errors: String
    ) {
        let (output, errors) = (Pipe(), Pipe())
        let process = program(arguments, settings)
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        // Less than a pipe holds, so neither has to wait for the other.
        let texts = try [output, errors].map {
            String(decoding: try $0.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        }
        process.waitUntilExit()
        return (process.terminationStatus, texts[0], texts[1])
    }

    private func nextLine(of handle: FileHandle) throws -> String? {
        var bytes = Data()
        while let byte = try handle.read(upToCount: 1), !byte.isEmpty {
            if byte[byte.startIndex] == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes += byte
        }
        return nil
    }
}
