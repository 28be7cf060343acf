// Every step of pipelines with numbers at their bounds and far beyond: there is an image, an error or none, and no
// trap.

import Kingfisher
import Testing

@testable import kf

@Suite struct PipelineBoundsTests {
    private static let numbers = [
        "0", "-0", "-1", "1", "2", "0.5", "16385", "2147483647", "9223372036854775807", "-9223372036854775808",
        "18446744073709551615", "1e308", "-1e308", "1e-300", "NaN", "inf",
    ]

    /// Arguments in the forms that steps have, with a number in each place.
    private static let forms = [
        "N", "NxN", "Nx", "xN", "3xN", "3x16384", "3x3,N,N", "3x3,fill,anchor=N,N", "3x3,red,N,N", "N%", "1,size=NxN",
        "N,red", "1,red,N",
        "1,N", "red,N", "N,1,1,0", "0,N,N,0", "0,1,1,N", "multiply,N", "sourceOver,N,red",
    ]

    @Test("A step with any number ends", arguments: PipelineParser.steps.map(\.name)) func numbers(step: String) throws
    {
        let data = try SampleImages.png()
        let image = try #require(Image(data: data))
        for form in Self.forms {
            for number in Self.numbers {
                let text = "\(step)(\(form.replacing("N", with: number)))"
                guard let steps = try? PipelineParser.parse(text) else { continue }
                let processor = PipelineStep.processor(of: steps)
                _ = processor?.process(item: .image(image), options: KingfisherParsedOptionsInfo(nil))
                _ = processor?.process(item: .data(data), options: KingfisherParsedOptionsInfo(nil))
            }
        }
    }

    @Test("The forms reach every step that takes numbers") func reached() {
        for entry in PipelineParser.steps where entry.usage.contains(where: \.isUppercase) && entry.name != "tint" {
            let isReached = Self.forms.contains { form in
                (try? PipelineParser.parse("\(entry.name)(\(form.replacing("N", with: "1")))")) != nil
            }
            #expect(isReached, "\(entry.usage)")
        }
    }
}
