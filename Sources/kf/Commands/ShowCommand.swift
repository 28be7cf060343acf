// `kf show`: its options. The work is in the files of the folder Show.

import ArgumentParser
import Foundation
import KFSupport
import Kingfisher

/// Draws an image in the terminal.
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Draw an image in the terminal, and play animations.",
        discussion: """
              kf show photo.jpg
              kf show clip.gif --loops 1 --width 60

            The terminal is asked what it can do: kitty's graphics come first, then sixels, then half blocks in 24-bit \
            colours. It has half a second to reply, or as many seconds as KF_TERMINAL_PATIENCE says: more for a slow \
            connection. Where standard output is no terminal, no question is written: half blocks, and of animations \
            the first frame, or with --protocol kitty or sixel what --frames and --loops ask for, once. Images are \
            shrunk to the columns and rows there are, never enlarged. Half blocks and sixels leave out what is less \
            than half opaque.

            \(NetworkArguments.mention)
            """
    )

    @Argument(help: ArgumentHelp("What to show.", valueName: "source"), completion: .file())
    var source: String

    @Option(parsing: .unconditional, help: ArgumentHelp("Use at most this many columns.", valueName: "columns"))
    var width: Int?

    @Option(
        name: .customLong("protocol"),
        parsing: .unconditional,
        help: ArgumentHelp("Draw this way.", valueName: "protocol")
    )
    var form = ShowProtocolChoice.auto

    @Option(parsing: .unconditional, help: ArgumentHelp("Show only the first frames of an animation.", valueName: "n"))
    var frames: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Play an animation at most this often.", valueName: "n"))
    var loops: Int?

    @Option(name: .customLong("process"), parsing: .unconditional, help: PipelineArgument.help)
    var pipeline: PipelineArgument?

    @OptionGroup(title: "Limits") var limits: LimitArguments
    @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkArguments

    func validate() throws {
        for (name, value) in [("--width", width), ("--frames", frames), ("--loops", loops)] {
            guard let value else { continue }
            guard (1...1_000_000).contains(value) else {
                throw ValidationError("\(name) must be from 1 to 1000000")
            }
        }
        _ = try pipeline?.steps
        try SourceArgument.check(source)
    }

    func run() async throws {
        let reader = SourceBytes(network, limits)
        let processor = try await pipeline?.processor
        do throws(Failure) {
            let data = try await reader.read(source)
            let limit = frameLimit
            let image = try await ImageBytes.image(data, processor, isStill: limit == 1)
            try await show(ShowFrames(image, limit: limit))
        } catch {
            Console().error(error.line(about: source))
            throw ExitStatus.failed
        }
    }

    private var isScreen: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The most frames that are drawn.
    ///
    /// Output to a file has to end, and half blocks in a file are one frame.
    private var frameLimit: Int {
        if isScreen { return frames ?? .max }
        guard let form = form.named, form != .blocks else { return 1 }
        return frames ?? (loops == nil ? 1 : .max)
    }

    private func show(_ frames: ShowFrames) async throws(Failure) {
        let terminal = Terminal()
        let screen = ShowScreen(STDOUT_FILENO)
        // Set up before the terminal's modes change, so that they are restored in every case.
        let interruption = Interruption {
            terminal?.restore()
        } pause: { stop in
            await screen.pause(terminal, stop)
        }
        let play = Task { () async -> Result<Void, Failure> in
            do throws(Failure) {
                terminal?.disableEcho()
                try await draw(frames, terminal, screen)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        interruption.stopping { play.cancel() }
        let result = await play.value
        terminal?.restore()
        interruption.finish()
        try result.get()
    }

    private func draw(_ frames: ShowFrames, _ terminal: Terminal?, _ screen: ShowScreen) async throws(Failure) {
        let asked = form == .auto ? await terminal?.bestProtocol() : nil
        let form = form.named ?? asked ?? .blocks
        let layout = ShowLayout(
            width: frames.image.pixelWidth,
            height: frames.image.pixelHeight,
            in: Terminal.size(),
            columns: width,
            with: form
        )
        let drawing = ShowDrawing(form: form, layout: layout, isScreen: isScreen, isAnimated: frames.count > 1)
        let player = ShowPlayer(frames: frames, drawing: drawing, loops: isScreen ? loops : loops ?? 1, screen: screen)
        try await player.play()
    }
}
