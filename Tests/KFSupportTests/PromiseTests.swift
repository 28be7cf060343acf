// A value that arrives once.

import KFSupport
import Testing

@Suite struct PromiseTests {
    @Test("The first value counts") func firstValueCounts() async {
        let promise = Promise<Int>()
        #expect(promise.valueIfFulfilled == nil)
        #expect(promise.fulfil(1))
        #expect(!promise.fulfil(2))
        #expect(promise.valueIfFulfilled == 1)
        #expect(await promise.value == 1)
    }

    @Test("All waiters receive the value") func resumesAllWaiters() async {
        let promise = Promise<Int>()
        let waiters = (0..<100).map { _ in Task.immediate { await promise.value } }
        promise.fulfil(3)
        for waiter in waiters { #expect(await waiter.value == 3) }
    }
}
