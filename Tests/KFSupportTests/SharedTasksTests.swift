// One task for all callers that want the same result.

import Dispatch
import KFSupport
import Testing

@Suite struct SharedTasksTests {
    struct Cancelled: Error {}
    typealias Tasks = SharedTasks<String, Box<Int>, Int, Cancelled>

    private func value(
        _ tasks: Tasks,
        _ key: String = "a",
        operation: @escaping @Sendable (Box<Int>) async -> Result<Int, Cancelled>
    ) async -> Result<Int, Cancelled> {
        do throws(Cancelled) {
            return .success(
                try await tasks.value(for: key, cancelled: { _ in Cancelled() }, operation: operation)
            )
        } catch {
            return .failure(error)
        }
    }

    @Test("Concurrent callers share one run") func concurrentCallers() async {
        let tasks = Tasks(context: { .init(0) }), runs = Box<Int>(0), gate = Promise<Void>()
        await withTaskGroup(of: Result<Int, Cancelled>.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await value(tasks) { _ in
                        runs.add(1)
                        await gate.value
                        return .success(7)
                    }
                }
            }
            while tasks.count == 0 { await Task.yield() }
            gate.fulfil(())
            for await result in group { #expect((try? result.get()) == 7) }
        }
        // A caller that joined after the round had ended began another one.
        #expect(runs.value >= 1 && tasks.count == 0)
    }

    @Test("A caller joins before its first suspension") func joinsBeforeSuspending() async {
        let tasks = Tasks(context: { .init(0) }), gate = Promise<Void>()
        let first = Task.immediate {
            await value(tasks) { _ in
                await gate.value
                return .success(1)
            }
        }
        #expect(tasks.count == 1)
        let second = Task.immediate { await value(tasks) { _ in .success(2) } }
        gate.fulfil(())
        #expect((try? await first.value.get()) == 1)
        #expect((try? await second.value.get()) == 1)
    }

    @Test("The work begins after the first caller has joined") func beginsAfterJoining() async throws {
        let tasks = Tasks(context: { .init(0) }), hasBegun = DispatchSemaphore(value: 0)
        let seen = try await tasks.value(
            for: "a",
            joined: { context in
                // If it could begin before this caller has joined, it would begin now.
                _ = hasBegun.wait(timeout: .now() + 0.2)
                context.add(1)
            },
            cancelled: { _ in Cancelled() },
            operation: { context in
                hasBegun.signal()
                return .success(context.value)
            }
        )
        #expect(seen == 1)
    }

    @Test("Cancelling one waiter does not cancel the others") func cancelOneWaiter() async {
        let tasks = Tasks(context: { .init(0) }), gate = Promise<Void>()
        let operation: @Sendable (Box<Int>) async -> Result<Int, Cancelled> = { _ in
            await gate.value
            return .success(1)
        }
        let first = Task.immediate { await value(tasks, operation: operation) }
        let second = Task.immediate { await value(tasks, operation: operation) }
        first.cancel()
        guard case .failure = await first.value else { return #expect(Bool(false), "it was cancelled") }
        gate.fulfil(())
        #expect((try? await second.value.get()) == 1)
    }

    @Test("Cancelling the last waiter cancels the work") func cancelLastWaiter() async {
        let tasks = Tasks(context: { .init(0) }), wasCancelled = Promise<Void>()
        let waiter = Task.immediate {
            await value(tasks) { _ in
                let never = Promise<Void>()
                await withTaskCancellationHandler {
                    await never.value
                } onCancel: {
                    wasCancelled.fulfil(())
                    never.fulfil(())
                }
                return .success(1)
            }
        }
        waiter.cancel()
        guard case .failure = await waiter.value else { return #expect(Bool(false), "it was cancelled") }
        await wasCancelled.value
        #expect(tasks.count == 0)
    }

    @Test("The work has the priority it is given, or else its caller's")
    func priority() async {
        let tasks = SharedTasks<String, Void, TaskPriority, Never>(context: {})
        @Sendable func join(_ priority: TaskPriority?) async -> TaskPriority {
            await tasks.value(
                for: "a",
                priority: priority,
                cancelled: { _ in preconditionFailure("nothing cancels it") }
            ) { _ in
                .success(Task.basePriority ?? .high)
            }
        }
        // Awaiting the tasks would escalate them.
        let given = Promise<TaskPriority>(), inherited = Promise<TaskPriority>()
        Task(priority: .background) { given.fulfil(await join(.utility)) }
        #expect(await given.value == .utility)
        Task(priority: .background) { inherited.fulfil(await join(nil)) }
        #expect(await inherited.value == .background)
    }

    @Test("The work is escalated to the priority of each caller that joins, and with their tasks")
    func escalation() async {
        let tasks = SharedTasks<String, Void, TaskPriority, Never>(context: {}), gate = Promise<Void>()
        @Sendable func join(_ priority: TaskPriority) async -> TaskPriority {
            await tasks.value(
                for: "a",
                priority: priority,
                cancelled: { _ in preconditionFailure("nothing cancels it") }
            ) { _ in
                await gate.value
                return .success(Task.currentPriority)
            }
        }
        let quiet = [TaskPriority.background, .utility, .background].map { priority in
            Task.immediate(priority: .background) { await join(priority) }
        }
        quiet[2].escalatePriority(to: .high)
        gate.fulfil(())
        for task in quiet { #expect(await task.value == .high) }
    }

    @Test("All callers of a round share its context") func sharedContext() async throws {
        let tasks = Tasks(context: { .init(0) }), gate = Promise<Void>()
        let waiters = (1...3).map { _ in
            Task.immediate {
                try await tasks.value(
                    for: "a",
                    joined: { $0.add(1) },
                    cancelled: { _ in Cancelled() },
                    operation: { context in
                        await gate.value
                        return .success(context.value)
                    }
                )
            }
        }
        gate.fulfil(())
        for waiter in waiters { #expect(try await waiter.value == 3) }
    }
}
