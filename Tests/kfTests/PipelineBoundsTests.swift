// Every number in the usage of every step of pipelines, at its bounds and far beyond: there is an image, an error or
// none, and no trap.

import Kingfisher
import Testing

@testable import kf

@Suite struct PipelineBoundsTests {
    private static let numbers = [
        "0", "-0", "-1", "1", "2", "0.5", "16385", "2147483647", "9223372036854775807", "-9223372036854775808",
        "18446744073709551615", "1e308", "-1e308", "1e-300", "NaN", "inf",
    ]

    /// The bounds of steps; as a side of an image some would take gigabytes.
    private static let bounds = [
        "0.001", "10", "-10", "100", "-100", "1000", "2000", "3600", "-3600", "16384",
    ]

    @Test("A step with any number at any place of its usage ends", arguments: PipelineParser.steps.map(\.name))
    func numbers(step: String) throws {
        let entry = try #require(PipelineParser.steps.first { $0.name == step })
        for form in StepForm.all(of: entry) {
            for number in Self.numbers { try Self.run(form.text { _, _ in number }) }
            for (place, name) in form.numbers.enumerated() {
                let isSide = ["W", "H"].contains(name)
                for number in Self.numbers + (isSide ? [] : Self.bounds) {
                    try Self.run(form.text { $0 == place ? number : StepForm.usual($1) })
                }
            }
        }
    }

    @Test("The longest side beside a short one ends", arguments: PipelineParser.steps.map(\.name))
    func longSide(step: String) throws { try Self.run("\(step)(3x16384)") }

    /// Runs a pipeline, if it is one.
    private static func run(_ text: String) throws {
        guard let steps = try? PipelineParser.parse(text) else { return }
        let data = try SampleImages.png()
        let image = try #require(Image(data: data))
        let logo = OverlayFile(image: Picture.plain(0xFFFF_0000, 1, 1).image, key: "logo")
        let processor = PipelineStep.processor(of: steps, files: ["./logo": logo])
        _ = processor?.process(item: .image(image), options: KingfisherParsedOptionsInfo(nil))
        _ = processor?.process(item: .data(data), options: KingfisherParsedOptionsInfo(nil))
    }

    @Test("Each number of a usage is in a form that can be read", arguments: PipelineParser.steps.map(\.name))
    func reached(step: String) throws {
        let entry = try #require(PipelineParser.steps.first { $0.name == step })
        let readable = StepForm.all(of: entry).filter { form in
            (try? PipelineParser.parse(form.text { StepForm.usual($1) })) != nil
        }
        #expect(!readable.isEmpty)
        #expect(Set(readable.flatMap(\.numbers)) == Set(StepForm(entry.usage).numbers), "\(entry.usage)")
    }

    @Test("Forms have each choice of a usage, with and without what may be left out") func forms() {
        let entry = PipelineParser.Entry(name: "a", usage: "a(W|H[,b|c=N])", example: "", meaning: "") {
            _ throws(PipelineError) in .circle
        }
        let texts = StepForm.all(of: entry).map { $0.text { StepForm.usual($1) } }
        #expect(texts == ["a(3)", "a(3,b)", "a(3,c=1)", "a(3)", "a(3,b)", "a(3,c=1)"])
    }
}

/// One of the ways to write a step that its usage allows: names of arguments are in capitals.
private struct StepForm {
    private let form: String

    init(_ form: String) { self.form = form }

    /// What arguments are that are no numbers.
    private static let words = [
        "COLOR": "red", "FILE": "./logo", "MODE": "multiply", "OPERATION": "sourceOver",
    ]

    /// A name of an argument: capitals, beside which only the x of a size is small.
    private static var name: Regex<Substring> { #/[A-Z]+(?![a-wyz])/# }

    /// A number that every step takes.
    static func usual(_ name: String) -> String { ["W", "H"].contains(name) ? "3" : "1" }

    /// The names of its numbers.
    var numbers: [String] {
        form.matches(of: Self.name).map { String($0.output) }.filter { Self.words[$0] == nil }
    }

    /// The step with numbers, given by their place and name.
    func text(_ number: (_ place: Int, _ name: String) -> String) -> String {
        var place = 0
        return form.replacing(Self.name) { match -> String in
            let name = String(match.output)
            if let word = Self.words[name] { return word }
            defer { place += 1 }
            return number(place, name)
        }
    }

    /// All forms of a step.
    static func all(of entry: PipelineParser.Entry) -> [StepForm] {
        let inside = String(entry.usage.dropFirst(entry.name.count + 1).dropLast())
        let choices = inside.matches(of: #/(?:[^|\[]|\[[^\]]*\])+/#).map { String($0.output) }
        // What may follow the last choice may follow others, too.
        let tail = choices.last.map { String($0.drop { $0 != "[" }) } ?? ""
        let texts = choices.flatMap { expanded($0.contains("[") ? $0 : $0 + tail) }
        return (texts.isEmpty ? [""] : texts).map { StepForm("\(entry.name)(\($0))") }
    }

    /// A text without and with each choice of what stands in its brackets.
    private static func expanded(_ text: String) -> [String] {
        guard let match = text.firstMatch(of: #/^([^\[]*)\[([^\]]*)\](.*)$/#) else { return [text] }
        let isFirst = match.output.1.isEmpty
        let choices = match.output.2.split(separator: "|").map { isFirst || $0.hasPrefix(",") ? "\($0)" : ",\($0)" }
        let rests = expanded(String(match.output.3))
        return ([""] + choices).flatMap { choice in rests.map { "\(match.output.1)\(choice)\($0)" } }
    }
}
