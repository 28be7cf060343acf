// `kf-planted-decoder`: a decoder that does what no decoder may, when the file says so in its last bytes; as if a file
// had taken it over. Started under a name that ends with `without-landlock` it is `kf-decoder` on a kernel without
// Landlock, under `in-a-service` it is `kf-decoder` in a service that may not call what is privileged. For
// IsolationTests.

import Foundation
import KFImaging
import KFSupport
import KingfisherDecoder

/// What a file makes it do.
enum Misdeed: String {
    case readsPasswords, connects, writesFile, startsProgram, takesMemory, loops, crashes, answersGarbage
    case closesConnection, answersTwice, claimsSizes, claimsLength, claimsOpacity, claimsCanvas
    case lacksMemory, lacksMemoryBesideAnimations

    /// What the last bytes of a file say.
    init?(_ file: UnsafeRawBufferPointer) {
        let end = String(decoding: file.suffix(40), as: UTF8.self)
        guard let mark = end.range(of: "misdeed=") else { return nil }
        self.init(rawValue: String(end[mark.upperBound...]))
    }
}

/// Becomes `kf-decoder`, beside this program, in surroundings that `kf-sandbox-checks` knows.
func start(in surroundings: String) -> Never {
    let folder = ProgramFolders.own[0]
    let words = [
        folder + "/kf-sandbox-checks", surroundings, "without=7", "run", folder + "/kf-decoder",
    ]
    let copies = (words + CommandLine.arguments.dropFirst()).map { strdup($0) }
    execv(words[0], copies + [nil])
    exit(66)
}

/// Writes an answer of these numbers and pixels, and says that it is there.
func answer(_ request: DecoderRequest, _ numbers: [Int64], pixels: Int = 0, to output: UnsafeMutableRawBufferPointer) {
    numbers.withUnsafeBytes { output.copyMemory(from: $0) }
    let count = numbers.count * 8
    let all = pixels == 0 ? count : 4096 + pixels
    let header = AnswerHeader(number: request.number, bodyCount: count, count: all).message
    _ = send(DecoderProgram.connection, header, header.count, 0)
}

/// Does it, as a decoder that has opened an animation before or has not.
func commit(
    _ misdeed: Misdeed,
    _ request: DecoderRequest,
    holdsAnimation: Bool,
    _ output: UnsafeMutableRawBufferPointer
) {
    switch misdeed {
    case .readsPasswords: exit(open("/etc/passwd", O_RDONLY) < 0 ? 13 : 0)
    case .writesFile: exit(open("/tmp/kf-planted", O_CREAT | O_WRONLY, 0o600) < 0 ? 13 : 0)
    case .connects: exit(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) < 0 ? 13 : 0)
    case .startsProgram:
        var process: pid_t = 0
        exit(posix_spawn(&process, "/bin/true", nil, nil, [nil], [nil]) == 0 ? 0 : 13)
    case .takesMemory: exit(malloc(10 << 30) == nil ? 12 : 0)
    case .loops: while true {}
    case .crashes: UnsafeMutablePointer<Int>(bitPattern: 16)?.pointee = 1
    case .answersGarbage: answer(request, (0..<20).map { $0 &* 0x1E37_79B9_7F4A_7C15 }, to: output)
    case .closesConnection:
        shutdown(DecoderProgram.connection, Int32(SHUT_RDWR))
        while true { sleep(1000) }
    // That the file is empty; what the decoder itself says comes after it.
    case .answersTwice: answer(request, [1, 6], to: output)
    // 65,536 columns and rows, of which there are 16 bytes.
    case .claimsSizes: answer(request, [0, 1 << 16, 1 << 16, 0, 0, 0, 0], pixels: 16, to: output)
    case .claimsLength:
        let header = AnswerHeader(number: request.number, bodyCount: 8, count: 1 << 60).message
        _ = send(DecoderProgram.connection, header, header.count, 0)
    // Two opaque pixels, of which one is transparent and brighter than its alpha permits.
    case .claimsOpacity: answer(request, [0, 2, 1, 0, 0, 0, 0], pixels: 16, to: output)
    // An animation, number 1, whose one frame is a pixel of 65,536 columns and rows.
    case .claimsCanvas:
        answer(request, [0, 1, 1, 1 << 16, 1 << 16, 0, 0, 0, 1] + [0, 0, 1, 1, 0, 0, 1, 0], to: output)
    case .lacksMemory: answer(request, [1, 4, 0], to: output)
    case .lacksMemoryBesideAnimations:
        guard holdsAnimation else { return }
        answer(request, [1, 4, 0], to: output)
    }
    // What has been written must not be overwritten before it is read.
    guard misdeed != .answersTwice else { return }
    var wanted = pollfd(fd: DecoderProgram.connection, events: Int16(POLLIN), revents: 0)
    poll(&wanted, 1, -1)
    exit(0)
}

if CommandLine.arguments[0].hasSuffix("without-landlock") { start(in: "no-landlock") }
if CommandLine.arguments[0].hasSuffix("in-a-service") { start(in: "service") }
guard CommandLine.arguments.dropFirst() == [DecoderProgram.argument] else { exit(64) }
serve()

func serve() -> Never {
    var holdsAnimation = false
    DecoderLoop { request, file, output in
        if let misdeed = Misdeed(file) { commit(misdeed, request, holdsAnimation: holdsAnimation, output) }
        if case .open = request.work { holdsAnimation = true }
    }.run()
}
