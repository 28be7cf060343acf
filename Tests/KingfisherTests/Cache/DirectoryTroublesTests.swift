// Why directories could not be used: kept for the words of errors, and not for ever.

import Testing

@testable import Kingfisher

@Suite struct DirectoryTroublesTests {
    @Test func theLatestReasonsAreKeptWhateverHappensToOthers() {
        var reasons = DirectoryTroubles.Reasons()
        let most = DirectoryTroubles.Reasons.most
        for number in 0..<most { reasons.keep("first", of: "\(number)") }
        reasons.keep("again", of: "0")
        #expect(reasons.reason(of: "1") == "first")
        reasons.keep("first", of: "one more")
        #expect(reasons.reason(of: "1") == nil, "It was the oldest.")
        #expect(reasons.reason(of: "0") == "again" && reasons.reason(of: "one more") == "first")
        for number in 2..<most { #expect(reasons.reason(of: "\(number)") == "first") }
        #expect(reasons.reason(of: "never heard of") == nil)
    }
}
