// `kf doctor`: prints what the library finds on this machine, for those who install it.

import ArgumentParser
import Kingfisher

/// Prints how images can be decoded in locked processes here.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Print what was found on this machine: the decoder, and how it is locked.",
        discussion: """
              kf doctor
              kf doctor --json

            Programs of the library can decode images in processes that are locked. Landlock keeps these from files (from \
            version 1 on), from TCP (4), and from signals and abstract sockets (6); seccomp filters their system calls, and \
            is needed.

            Exit status: 1 when images cannot be decoded in locked processes.
            """
    )

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let console = Console()
        let status = DecodingIsolation.status
        if json {
            let object: JSON = [
                "decoder": status.program.map { .string($0) } ?? .null, "landlock": .int(status.landlock),
                "seccomp": .bool(status.seccomp), "limits": .bool(status.limits),
                "obstacle": status.obstacle.map { .string($0) } ?? .null,
                "read": .array(ImageContentType.readable.map { .string($0.name) }),
                "written": .array(ImageContentType.writable.map { .string($0.name) }),
            ]
            console.print(object.description)
        } else {
            console.print("read: \(ImageContentType.readable.map(\.name).joined(separator: ", "))")
            console.print("written: \(ImageContentType.writable.map(\.name).joined(separator: ", "))")
            console.print("decoder: \(status.program ?? "none")")
            console.print("Landlock: \(status.landlock == 0 ? "none" : "version \(status.landlock)")")
            console.print("seccomp: \(status.seccomp ? "in force" : "none")")
            console.print("limits: \(status.limits ? "in force" : "none")")
        }
        guard let obstacle = status.obstacle else { return }
        console.error("images cannot be decoded in locked processes: \(obstacle)")
        throw ExitStatus.failed
    }
}
