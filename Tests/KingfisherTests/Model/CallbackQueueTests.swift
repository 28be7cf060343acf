// The queues on which callbacks run.

import Dispatch
import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct CallbackQueueTests {
    @Test("`untouch` calls inline")
    func untouchCallsInline() {
        let calls = Counter()
        CallbackQueue.untouch.execute { calls.add() }
        #expect(calls.value == 1)
    }

    @Test("`mainCurrentOrAsync` calls inline on the main queue") @MainActor
    func mainCurrentCallsInlineOnMain() {
        let calls = Counter()
        CallbackQueue.mainCurrentOrAsync.execute { calls.add() }
        #expect(calls.value == 1)
    }

    @Test("`mainCurrentOrAsync` dispatches from other threads")
    func mainCurrentDispatches() async {
        let wasMain = Promise<Bool>()
        await WorkExecutor.cpu.run {
            #expect(!CallbackQueue.isMain)
            CallbackQueue.mainCurrentOrAsync.execute { wasMain.fulfil(CallbackQueue.isMain) }
        }
        #expect(await wasMain.value)
    }

    @Test("The default is the main queue") func defaultQueue() {
        #expect(CallbackQueue.default.identity == .main)
        #expect(KingfisherParsedOptionsInfo(nil).callbackQueue.identity == .main)
    }

    /// Runs in a process of its own, because the default applies to the whole process.
    @Test("A process may choose another default") func changedDefault() async {
        await #expect(processExitsWith: .success) {
            CallbackQueue.default = .untouch
            let manager = KingfisherManager.shared
            let isInline = KingfisherParsedOptionsInfo([.forceRefresh]).callbackQueue.identity == .inline
            let chosen = KingfisherParsedOptionsInfo([.callbackQueue(.mainAsync)]).callbackQueue.identity == .main
            // The main queue of this process runs no work before the process ends.
            let calls = Counter()
            manager.cache.store(Image(), forKey: "a", toDisk: false)
            manager.cache.retrieveImage(forKey: "a") { _ in calls.add() }
            exit(isInline && chosen && calls.value == 1 ? 0 : 1)
        }
    }

    @Test("`mainAsync` dispatches even on the main queue") @MainActor
    func mainAsyncAlwaysDispatches() async {
        let called = Promise<Void>()
        CallbackQueue.mainAsync.execute { called.fulfil(()) }
        #expect(called.valueIfFulfilled == nil)
        await called.value
    }

    @Test("Callbacks run on the given dispatch and operation queues") func givenQueues() async {
        let key = DispatchSpecificKey<Int>(), queue = DispatchQueue(label: "mine"), operations = OperationQueue()
        queue.setSpecific(key: key, value: 7)
        operations.underlyingQueue = queue
        let first = Promise<Int?>(), second = Promise<Int?>()
        CallbackQueue.dispatch(queue).execute { first.fulfil(DispatchQueue.getSpecific(key: key)) }
        CallbackQueue.operationQueue(operations).execute { second.fulfil(DispatchQueue.getSpecific(key: key)) }
        #expect(await first.value == 7)
        #expect(await second.value == 7)
    }

    @Test("Asynchronous work runs on the given queue") func runOnQueue() async {
        let key = DispatchSpecificKey<Int>(), queue = DispatchQueue(label: "mine")
        queue.setSpecific(key: key, value: 7)
        #expect(await CallbackQueue.dispatch(queue).run { DispatchQueue.getSpecific(key: key) } == 7)
        #expect(await CallbackQueue.untouch.run { DispatchQueue.getSpecific(key: key) } == nil)
    }
}
