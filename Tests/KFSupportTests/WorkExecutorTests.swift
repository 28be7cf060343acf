// The work executor, which has a bounded number of threads of its own.

import Foundation
import Glibc
import KFSupport
import Testing

@Suite struct WorkExecutorTests {
    @Test("Work runs on a thread of the executor") func runsOnOwnThread() async {
        let executor = WorkExecutor("kf.test", threads: 1)
        let (first, second) = (await executor.run { pthread_self() }, await executor.run { pthread_self() })
        #expect(first == second)
        let other = WorkExecutor("kf.other", threads: 1)
        #expect(await other.run { pthread_self() } != first)
    }

    @Test("No more pieces of work run at once than there are threads") func boundedConcurrency() async {
        let executor = WorkExecutor("kf.test", threads: 2)
        let running = Box(Running())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    await executor.run {
                        running.state.withLock {
                            $0.now += 1
                            $0.most = max($0.most, $0.now)
                        }
                        for _ in 0..<1000 { _ = Date() }
                        running.state.withLock { $0.now -= 1 }
                    }
                }
            }
        }
        #expect(running.state.withLock { $0.most } <= 2)
        #expect(running.state.withLock { $0.now } == 0)
    }

    @Test("Work of one priority runs in the order it came") func firstInFirstOut() async {
        let executor = WorkExecutor("kf.test", threads: 1)
        let order = Box<[Int]>([])
        let tasks = (0..<200).map { index in
            Task.immediate(executorPreference: executor) { order.state.withLock { $0.append(index) } }
        }
        for task in tasks { await task.value }
        #expect(order.state.withLock { $0 } == Array(0..<200))
    }

    @Test("Blocking every thread of an executor does not block the cooperative pool") func doesNotBlockPool() async {
        let executor = WorkExecutor("kf.test", threads: 2)
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = executor.run { block(on: gate) }
        async let second: Void = executor.run { block(on: gate) }
        let value = await Task { 42 }.value
        #expect(value == 42)
        gate.signal()
        gate.signal()
        _ = await (first, second)
    }

    @Test("Work of a task without a preference stays on the executor, also if one of its threads began the task")
    func tasksBegunOnAThread() async {
        let executor = WorkExecutor("kf.test", threads: 1)
        let isThere = Promise<Bool>()
        await executor.run {
            let thread = pthread_self()
            _ = Task.immediate { isThere.fulfil(await executor.run { pthread_self() == thread }) }
        }
        #expect(await isThere.value)
    }

    @Test("Work of a caller that is on the executor begins at once, even if other work waits")
    func nesting() async {
        let executor = WorkExecutor("kf.test", threads: 1)
        let hasBegun = Promise<Void>(), isThere = DispatchSemaphore(value: 0), order = Box<[Int]>([])
        let outer = Task.immediate(priority: .background) {
            await executor.run {
                hasBegun.fulfil(())
                block(on: isThere)
                let thread = pthread_self()
                await executor.run {
                    order.state.withLock { $0.append(1) }
                    #expect(pthread_self() == thread)
                }
                #expect(pthread_self() == thread)
            }
        }
        await hasBegun.value
        let urgent = Task.immediate(priority: .high) {
            await executor.run { order.state.withLock { $0.append(2) } }
        }
        isThere.signal()
        await outer.value
        await urgent.value
        #expect(order.value == [1, 2])
    }

    @Test("Errors are thrown with their type") func typedErrors() async {
        struct Failed: Error, Equatable {}
        let executor = WorkExecutor("kf.test", threads: 1)
        do throws(Failed) {
            try await executor.run { () async throws(Failed) in throw Failed() }
        } catch {
            #expect(error == Failed())
        }
    }
}

private struct Running: Sendable {
    var now = 0
    var most = 0
}

private func block(on gate: DispatchSemaphore) { gate.wait() }
