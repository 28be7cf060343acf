// Who watches the file store: that the watch sees what it should, and nothing else.

#if DEBUG
import Foundation
import KFStorage
import Testing

@Suite struct BlockingGuardTests {
    @Test func whatAThreadDoesUnderTheMarkIsFound() async throws {
        let scratch = try Scratch()
        let store = FileStore(path: scratch("cache"))
        try store.write(Data("x".utf8), to: "a", expiration: .never)

        var inner: [String] = []
        let outer = BlockingGuard.violations {
            inner = BlockingGuard.violations { _ = store.contains("a") }
            _ = try? store.remove("a")
        }
        #expect(inner == ["status(of:)"])
        #expect(outer.contains("remove(_:)") && !outer.contains("status(of:)"))
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
