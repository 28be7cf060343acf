// Paths made from the grammar and broken at random: each gives a plan or an error of the client, and sizes.

import Foundation
import KFImageURLs
import KFImageURLsTestSupport
import Testing

@Suite struct MutatedPathsTests {
    @Test("A hundred thousand paths give a plan with sizes, or an error from 400 to 499", arguments: 0..<4)
    func mutated(part: Int) {
        let parser = PathParser(
            settings: settings {
                $0.allowsSecurityOptions = part.isMultiple(of: 2)
                $0.presets = ["a": ["w:10", "pr:b"], "b": ["pr:a", "rs:fill:10:10"], "known": ["q:1"]]
                $0.allowsOnlyPresets = part == 3
                $0.allowedSources = part == 1 ? [SourcePattern("http*://*example.com/"), SourcePattern("l*a")] : []
            }
        )
        var paths = MutatedPaths(seed: UInt64(part) + 43)
        var counts: [Int: Int] = [:]
        for _ in 0..<25_000 {
            let path = paths.next(presetsOnly: part == 3)
            do throws(RequestError) {
                let plan = try parser.parse(path).plan
                let source = PixelSize(
                    width: Int.random(in: 1...20_000, using: &paths.generator),
                    height: Int.random(in: 1...20_000, using: &paths.generator)
                )
                let size = ImageGeometry(source: source, plan: plan, resultLimit: part * 1000).size
                if size.width < 1 || size.height < 1 { Issue.record("\(path) gives \(size)") }
                counts[200, default: 0] += 1
            } catch {
                if !(400...499).contains(error.status) || error.reason.isEmpty { Issue.record("\(path): \(error)") }
                counts[error.status, default: 0] += 1
            }
        }
        // Neither all good nor all bad, or it would try little.
        #expect(counts[200, default: 0] > 100 && counts[404, default: 0] > 1000 && counts[403, default: 0] > 100)
    }
}
