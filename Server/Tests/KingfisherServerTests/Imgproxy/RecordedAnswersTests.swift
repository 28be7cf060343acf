// Requests that imgproxy answered, answered by this server: the same, but for a list of differences with a reason each.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct RecordedAnswersTests {
    /// What was found by asking for everything.
    private struct Findings {
        /// How many answers were of each known difference, by its reason.
        var known: [String: Int] = [:]
        var likenesses: [Double] = []

        mutating func note(_ subject: KnownDifference.Subject, _ recorded: RecordedAnswer, _ own: OwnAnswer) {
            let difference = KnownDifference.all.first { $0.subject == subject && $0.covers(recorded, own) }
            #expect(difference != nil, "\(subject): \(recorded) but here \(own)")
            if let difference { known[difference.reason, default: 0] += 1 }
        }

        mutating func add(_ recorded: RecordedAnswer, _ own: OwnAnswer) {
            guard recorded.status == own.status else { return note(.status, recorded, own) }
            if recorded.disposition != own.disposition { note(.disposition, recorded, own) }
            guard recorded.size == own.size else { return note(.size, recorded, own) }
            #expect(recorded.frames == own.frames && recorded.delays == own.delays, "\(recorded) but here \(own)")
            guard let psnr = own.psnr else { return }
            likenesses.append(psnr)
            if psnr < 30 { note(.pixels, recorded, own) }
        }
    }

    @Test("What imgproxy answered is what this server answers: status, size, frames, name and pixels")
    func recorded() async throws {
        let settings = ServerConfiguration.read(RecordedAnswer.settings).configuration
        let readsDrawings = ImageContentType.readable.contains(.svg)
        var findings = Findings()
        try await RenderingRig.run({ configuration in
            (configuration.urls, configuration.sources) = (settings.urls, settings.sources)
            configuration.sources.localRoot = RecordedAnswer.folder.appendingPathComponent("sources").path
            configuration.output.usesLinearLight = false
        }) { rig in
            let answers = try RecordedAnswer.all()
            #expect(answers.count == 873)
            // Without the trait SVG a drawing is no image here.
            for recorded in answers where readsDrawings || !recorded.path.contains("/s.svg") {
                findings.add(recorded, try await recorded.ask(rig.renderer, rig.configuration))
            }
        }
        for difference in KnownDifference.all {
            #expect(findings.known[difference.reason, default: 0] <= difference.count, "\(difference.reason)")
        }
        let likenesses = findings.likenesses
        #expect(likenesses.count >= 220)
        let near = likenesses.count { $0 >= 40 }
        #expect(Double(near) >= 0.9 * Double(likenesses.count), "40 dB: \(near) of \(likenesses.count)")
        print("Of \(likenesses.count) results \(near) are within 40 dB of imgproxy's. Differences: \(findings.known)")
    }
}
