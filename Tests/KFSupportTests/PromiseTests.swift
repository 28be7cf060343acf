// Promises: values that arrive once.

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

    @Test("All callers that wait receive the value") func resumesAllWaiters() async {
        let promise = Promise<Int>()
        let callers = (0..<100).map { _ in Task.immediate { await promise.value } }
        promise.fulfil(3)
        for caller in callers { #expect(await caller.value == 3) }
    }
}
