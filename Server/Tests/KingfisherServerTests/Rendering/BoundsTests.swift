// Every argument of every option at its bounds and far beyond, through the renderer: no URL ends the process.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct BoundsTests {
    private static let numbers = [
        "0", "-1", "1", "-0", "255", "256", "999", "1000", "1001", "\(Int.max)", "\(Int.max - 1)", "\(Int.min)",
        "\(UInt.max)", "\(Int32.max)", "4294967296", "1e18", "1e19", "1e308", "-1e308", "5e-324", "nan", "inf", "-inf",
    ]

    /// What stands before an argument, so that it is not ignored.
    private static let contexts = ["", "rs:fill:30:20/", "ex:1/w:300/h:300/exar:1/dpr:3/", "c:40:40/rot:90/el:1/"]

    /// An option with a value at one of its arguments; where that is an offset, of the middle.
    private static func texts(of option: ImageOption, _ place: Int) -> [String] {
        numbers.map { number in
            var values = [String](repeating: "", count: option.arguments.count)
            for (index, argument) in option.arguments.enumerated() where argument.name == "gravity" && place > index {
                values[index] = "ce"
            }
            if option.names[0] == "autoquality", place > 0 { values[0] = "ssimulacra2" }
            values[place] = number
            return ([option.names[option.names.count > 1 ? 1 : 0]] + values.prefix(place + 1)).joined(separator: ":")
        }
    }

    @Test("An argument of any size gives a result or is refused", arguments: OptionTable.all.map { $0.names[0] })
    func options(name: String) async throws {
        let option = try #require(OptionTable.all.first { $0.names[0] == name })
        try await RenderingRig.run({ $0.output.maxDimension = 2000 }) { rig in
            rig.server.route("/a", .data(try Quadrants.jpeg(Quadrants.image(64, 48), orientation: 6)))
            var accepted = 0
            for place in option.arguments.indices {
                for text in Self.texts(of: option, place) {
                    for context in Self.contexts {
                        guard let request = try? rig.request(context + text) else { continue }
                        accepted += 1
                        do throws(RenderingError) {
                            _ = try await rig.renderer.render(request)
                        } catch {
                            #expect((400..<500).contains(error.status), "\(context + text): \(error)")
                        }
                    }
                }
            }
            // Names and formats are no numbers.
            let takesNone = ["rotate", "resizing_type", "format", "format_quality", "skip_processing", "preset"]
            #expect(accepted > 0 || takesNone.contains(name))
        }
    }

    @Test("A setting of any size is read or refused") func settings() {
        for setting in SettingsTable.all {
            for number in Self.numbers { _ = ServerConfiguration.read([setting.names[0]: number]) }
        }
    }
}
