// The work executor, which has a bounded number of threads of its own.

import Foundation
import Glibc
import KFSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct WorkExecutorTests {
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

    @Test("With a higher number of threads, as many pieces of work run at once") func moreThreads() async {
        let executor = WorkExecutor("kf.test", threads: 1)
        await executor.run {}
        executor.threadCount = 3
        // Each waits until all three have begun.
        let arrivals = Box(0), gate = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    await executor.run {
                        let number = arrivals.state.withLock { count in
                            count += 1
                            return count
                        }
                        if number == 3 { for _ in 0..<3 { gate.signal() } }
                        block(on: gate)
                    }
                }
            }
        }
        #expect(arrivals.value == 3)
    }

    @Test("What waits for a thread is counted") func waiting() async {
        let executor = WorkExecutor("kf.test", threads: 1)
        let hasBegun = DispatchSemaphore(value: 0), gate = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await executor.run {
                    hasBegun.signal()
                    block(on: gate)
                }
            }
            block(on: hasBegun)
            #expect(executor.waitingCount == 0)
            for _ in 0..<3 { group.addTask { await executor.run {} } }
            while executor.waitingCount < 3 { await Task.yield() }
            gate.signal()
        }
        #expect(executor.waitingCount == 0)
    }

    @Test("Large work comes after small work of its priority, and leaves a thread to it while it runs")
    func largeWork() async {
        let executor = WorkExecutor("kf.test", threads: 2)
        let order = Box<[String]>([]), gate = DispatchSemaphore(value: 0), running = Box(0)
        @Sendable func note(_ name: String) { order.state.withLock { $0.append(name) } }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                let lane = executor.lane()
                group.addTask(executorPreference: lane) {
                    await lane.makeWay()
                    running.state.withLock { $0 += 1 }
                    block(on: gate)
                    note("large \(number)")
                }
            }
            // Two run, and two wait, though there is a thread.
            while running.value < 2 || executor.waitingCount != 2 { await Task.yield() }
            for number in 0..<3 { await executor.run { note("small \(number)") } }
            #expect(running.value == 2)
            #expect(order.value == ["small 0", "small 1", "small 2"])
            for _ in 0..<4 { gate.signal() }
        }
        #expect(running.value == 4 && order.value.count == 7)
    }

    @Test("With a lower number of threads, no more pieces of work run at once") func fewerThreads() async {
        let executor = WorkExecutor("kf.test", threads: 4)
        await executor.run {}
        executor.threadCount = 1
        let order = Box<[Int]>([])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<32 {
                group.addTask {
                    await executor.run {
                        order.state.withLock { $0.append(number) }
                        for _ in 0..<1000 { _ = Date() }
                        order.state.withLock { $0.append(number) }
                    }
                }
            }
        }
        let pairs = order.value
        #expect(pairs.count == 64)
        #expect(stride(from: 0, to: pairs.count - 1, by: 2).allSatisfy { pairs[$0] == pairs[$0 + 1] })
    }

    @Test("There are as many threads as pieces of work that block, and none once there has been no work for a while")
    func growing() async {
        let executor = WorkExecutor("kf.test", threads: 100, idleTime: .milliseconds(1))
        for count in [8, 40, 3] {
            // Each waits until all have begun.
            let arrivals = Box(0), gate = DispatchSemaphore(value: 0)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        await executor.run {
                            let number = arrivals.state.withLock { arrived in
                                arrived += 1
                                return arrived
                            }
                            if number == count { for _ in 0..<count { gate.signal() } }
                            block(on: gate)
                        }
                    }
                }
            }
            while executor.currentThreadCount > 0, !Task.isCancelled { await Task.yield() }
        }
    }

    @Test("Work that blocks nothing takes few threads") func noNeedToGrow() async {
        let executor = WorkExecutor("kf.test", threads: 200)
        for _ in 0..<200 { await executor.run {} }
        #expect(executor.currentThreadCount < 20)  // threads that are done may not have said so yet
    }

    @Test("There is at least one thread") func oneThread() async {
        let executor = WorkExecutor("kf.test", threads: -1)
        executor.threadCount = 0
        #expect(executor.threadCount == 1)
        #expect(await executor.run { 42 } == 42)
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
