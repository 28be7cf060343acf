// The order of waiting work: it runs by priority, and moves up when its task is escalated.

import Dispatch
import KFSupport
import Testing

@Suite struct WorkPriorityTests {
    /// An executor with one thread that is held until it is released, and the names of the work that has run, in order.
    private final class Rig: Sendable {
        let executor = WorkExecutor("kf.test", threads: 1)
        private let gate = DispatchSemaphore(value: 0)
        private let order = Box<[String]>([])
        private let done = Promise<[String]>()
        private let expected: Int

        init(expecting count: Int) {
            expected = count
            Task.immediate { [executor, gate] in await executor.run { block(on: gate) } }
        }

        /// A task that waits for the thread when this returns, and records its name there.
        @discardableResult
        func wait(_ name: String, _ priority: TaskPriority) -> Task<Void, Never> {
            Task.immediate(priority: priority) { [self] in await note(name) }
        }

        @concurrent func note(_ name: String) async {
            await executor.run { [self] in
                let names = order.state.withLock { names in
                    names.append(name)
                    return names
                }
                if names.count == expected { done.fulfil(names) }
            }
        }

        /// Lets the thread go on. (Awaiting the tasks themselves would escalate them.)
        func release() async -> [String] {
            gate.signal()
            return await done.value
        }
    }

    @Test("Work runs by its priority, and within one priority in the order it came")
    func order() async {
        let rig = Rig(expecting: 6)
        rig.wait("a", .background)
        rig.wait("b", .utility)
        rig.wait("c", .background)
        rig.wait("d", .high)
        rig.wait("e", .medium)
        rig.wait("f", .high)
        #expect(await rig.release() == ["d", "f", "e", "b", "a", "c"])
    }

    @Test("One urgent piece of work waits for none of a thousand others")
    func thousand() async {
        let rig = Rig(expecting: 1001)
        for _ in 0..<1000 { rig.wait("prefetched", .background) }
        rig.wait("visible", .high)
        #expect(await rig.release().first == "visible")
    }

    @Test("Waiting work whose task is escalated moves behind the work that has that priority already")
    func escalation() async {
        let rig = Rig(expecting: 4)
        rig.wait("a", .background)
        let escalated = rig.wait("b", .background)
        rig.wait("c", .medium)
        rig.wait("d", .high)
        escalated.escalatePriority(to: .high)
        #expect(await rig.release() == ["d", "b", "c", "a"])
    }

    @Test("Tasks that prefer the executor run by their priority too")
    func preference() async {
        let rig = Rig(expecting: 2)
        let low = Task.immediate(priority: .background, executorPreference: rig.executor) { await rig.note("low") }
        let high = Task.immediate(priority: .high, executorPreference: rig.executor) { await rig.note("high") }
        #expect(await rig.release() == ["high", "low"])
        await low.value
        await high.value
    }
}

@Suite struct WorkQueueTests {
    @Test("Raised work keeps its order, and work that was taken stays taken")
    func raising() {
        var queue = WorkQueue<Int>()
        for number in 0..<10 { queue.push(number, level: number < 5 ? 1 : 2) }
        #expect(queue.pop() == 5)
        queue.push(10, level: 3)
        queue.raise(to: 3) { $0.isMultiple(of: 2) || $0 == 5 }
        var order: [Int] = []
        while let next = queue.pop() { order.append(next) }
        #expect(order == [10, 6, 8, 0, 2, 4, 7, 9, 1, 3])
    }

    @Test("Of many pieces of work none is lost or taken twice")
    func many() {
        var queue = WorkQueue<Int>(), taken: [Int] = []
        for number in 0..<1000 {
            queue.push(number, level: UInt8(number % 4))
            if number % 3 == 0, let next = queue.pop() { taken.append(next) }
            if number % 97 == 0 { queue.raise(to: 3) { $0 % 10 == 0 } }
        }
        while let next = queue.pop() { taken.append(next) }
        #expect(taken.sorted() == Array(0..<1000))
    }
}

private func block(on gate: DispatchSemaphore) { gate.wait() }
