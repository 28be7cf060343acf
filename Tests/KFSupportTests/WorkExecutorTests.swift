// Bounded threads of their own.

import Foundation
import Glibc
import KFSupport
import Testing

@Suite struct WorkExecutorTests {
    @Test func workRunsOnAThreadOfTheExecutor() async {
        let executor = WorkExecutor("kf.test", threads: 1)
        let (first, second) = (await executor.run { pthread_self() }, await executor.run { pthread_self() })
        #expect(first == second)
        let other = WorkExecutor("kf.other", threads: 1)
        #expect(await other.run { pthread_self() } != first)
    }

    @Test func noMoreRunsAtOnceThanThereAreThreads() async {
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

    @Test func workIsTakenInTheOrderItCame() async {
        let executor = WorkExecutor("kf.test", threads: 1)
        let order = Box<[Int]>([])
        let tasks = (0..<200).map { index in
            Task.immediate(executorPreference: executor) { order.state.withLock { $0.append(index) } }
        }
        for task in tasks { await task.value }
        #expect(order.state.withLock { $0 } == Array(0..<200))
    }

    @Test func blockingEveryThreadDoesNotBlockTheCooperativePool() async {
        let executor = WorkExecutor("kf.test", threads: 2)
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = executor.run { block(on: gate) }
        async let second: Void = executor.run { block(on: gate) }
        let answer = await Task { 42 }.value
        #expect(answer == 42)
        gate.signal()
        gate.signal()
        _ = await (first, second)
    }

    @Test("Work of a task without a preference stays on the executor, also if the task was begun on one of its threads")
    func tasksBegunOnAThread() async {
        let executor = WorkExecutor("kf.test", threads: 1)
        let isThere = Promise<Bool>()
        await executor.run {
            let thread = pthread_self()
            _ = Task.immediate { isThere.keep(await executor.run { pthread_self() == thread }) }
        }
        #expect(await isThere.value)
    }

    @Test("Work of a caller that is on the executor begins at once, whatever waits")
    func nesting() async {
        let executor = WorkExecutor("kf.test", threads: 1)
        let hasBegun = Promise<Void>(), isThere = DispatchSemaphore(value: 0), order = Box<[Int]>([])
        let outer = Task.immediate(priority: .background) {
            await executor.run {
                hasBegun.keep(())
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

    @Test func errorsComeBackWithTheirType() async {
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
