// A value that arrives once.

import KFSupport
import Testing

@Suite struct PromiseTests {
    @Test func theFirstValueCounts() async {
        let promise = Promise<Int>()
        #expect(promise.valueIfKept == nil)
        #expect(promise.keep(1))
        #expect(!promise.keep(2))
        #expect(promise.valueIfKept == 1)
        #expect(await promise.value == 1)
    }

    @Test func everyoneWhoWaitsIsAnswered() async {
        let promise = Promise<Int>()
        let waiters = (0..<100).map { _ in Task.immediate { await promise.value } }
        promise.keep(3)
        for waiter in waiters { #expect(await waiter.value == 3) }
    }
}
