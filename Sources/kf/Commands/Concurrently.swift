// Work on a list, several items at a time, reported in the list's order; for `kf fetch` and `kf process`.

/// The same work on many items.
enum Concurrently {
    /// Works on every item, on at most `limit` of them at once.
    ///
    /// - Parameters:
    ///   - items: The items, whose work starts in this order.
    ///   - limit: The number of items at once, at least one.
    ///   - work: Works on an item, given its index.
    ///   - report: Called with the outcome of each item, in the order of the items, once all earlier ones are done.
    static func forEach<Item: Sendable, Outcome: Sendable>(
        _ items: [Item],
        atOnce limit: Int,
        work: @escaping @Sendable (Int, Item) async -> Outcome,
        report: (Outcome) -> Void
    ) async {
        await withTaskGroup(of: (index: Int, outcome: Outcome).self) { group in
            var waiting: [Int: Outcome] = [:]
            var next = 0
            func record(_ done: (index: Int, outcome: Outcome)) {
                waiting[done.index] = done.outcome
                while let ready = waiting.removeValue(forKey: next) {
                    report(ready)
                    next += 1
                }
            }
            for (index, item) in items.enumerated() {
                if index >= limit, let done = await group.next() { record(done) }
                group.addTask { (index, await work(index, item)) }
            }
            for await done in group { record(done) }
        }
    }
}
