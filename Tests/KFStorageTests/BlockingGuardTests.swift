// The guard that records blocking system calls of its own thread.

#if DEBUG
import Foundation
import KFStorage
import Testing

@Suite struct BlockingGuardTests {
    @Test("System calls of a marked thread are recorded, those of other threads are not") func recordsViolations()
        async throws
    {
        let scratch = try Scratch()
        let store = FileStore(path: scratch("cache"))
        try store.write(Data("x".utf8), to: "a", expiration: .never)

        var inner: [String] = []
        let outer = BlockingGuard.violations {
            inner = BlockingGuard.violations { _ = store.contains("a") }
            _ = try? store.read("a")
        }
        #expect(inner == ["status(of:)"])
        #expect(outer.contains("open(_:)") && !outer.contains("status(of:)"))
        let afterwards = BlockingGuard.violations {}
        #expect(afterwards.isEmpty)

        // Another thread may wait.
        let semaphore = DispatchSemaphore(value: 0)
        let elsewhere = BlockingGuard.violations {
            Thread.detachNewThread {
                _ = store.contains("a")
                semaphore.signal()
            }
            semaphore.wait()
        }
        #expect(elsewhere.isEmpty)
    }
}
#endif
