// Work on a list, several items at a time, reported in the list's order. Knows nothing of the work.

/// Doing the same to many items.
enum Concurrently {
    /// Works on every item, on at most `limit` of them at once.
    ///
    /// - Parameters:
    ///   - items: What is to be worked on; begun in this order.
    ///   - limit: How many at once, at least one.
    ///   - work: Does it to an item, which stands at this index.
    ///   - report: Given what came of each item, in the order of the items, as soon as all earlier ones are done.
    static func forEach<Item: Sendable, Outcome: Sendable>(
        _ items: [Item],
        atOnce limit: Int,
        work: @escaping @Sendable (Int, Item) async -> Outcome,
        report: (Outcome) -> Void
    ) async {
        await withTaskGroup(of: (index: Int, outcome: Outcome).self) { group in
            var waiting: [Int: Outcome] = [:]
            var next = 0
            func note(_ done: (index: Int, outcome: Outcome)) {
                waiting[done.index] = done.outcome
                while let ready = waiting.removeValue(forKey: next) {
                    report(ready)
                    next += 1
                }
            }
            for (index, item) in items.enumerated() {
                if index >= limit, let done = await group.next() { note(done) }
                group.addTask { (index, await work(index, item)) }
            }
            for await done in group { note(done) }
        }
    }
}
