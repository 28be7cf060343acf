// The order in which waiting work is taken: by level, then by arrival. For WorkExecutor.

/// Waiting elements by level: the highest level first, first come first served within one.
///
/// Adding and taking are amortised O(1) for the few levels there are.
package struct WorkQueue<Element: Sendable>: Sendable {
    /// The elements of one level: a queue made of two stacks.
    private struct LevelQueue: Sendable {
        let level: UInt8
        /// The elements that came last, in the order they came.
        private var newer: [Element] = []
        /// Those that came before, the first one at the end.
        private var older: [Element] = []

        init(level: UInt8) { self.level = level }

        var count: Int { newer.count + older.count }

        mutating func push(_ element: Element) { newer.append(element) }

        mutating func pop() -> Element? {
            if older.isEmpty {
                swap(&older, &newer)
                older.reverse()
            }
            return older.popLast()
        }

        /// Takes out all elements for which `isMeant` returns true, in the order they came.
        mutating func takeAll(where isMeant: (Element) -> Bool) -> [Element] {
            let taken = (older.reversed() + newer).filter(isMeant)
            guard !taken.isEmpty else { return [] }
            older.removeAll(where: isMeant)
            newer.removeAll(where: isMeant)
            return taken
        }
    }

    // The highest level first. A level stays when its queue is empty.
    private var levels: [LevelQueue] = []

    /// Creates an empty queue.
    package init() {}

    /// How many elements wait.
    package var count: Int { levels.reduce(0) { $0 + $1.count } }

    /// The highest level that has an element; nil when the queue is empty.
    package var highestLevel: UInt8? { levels.first { $0.count > 0 }?.level }

    /// Adds an element behind all others of its level.
    package mutating func push(_ element: Element, level: UInt8) {
        let index = levels.firstIndex { $0.level <= level } ?? levels.count
        if index == levels.count || levels[index].level != level { levels.insert(LevelQueue(level: level), at: index) }
        levels[index].push(element)
    }

    /// Takes the first element of the highest level.
    package mutating func pop() -> Element? {
        for index in levels.indices {
            if let element = levels[index].pop() { return element }
        }
        return nil
    }

    /// Moves the elements that wait below a level to its end, which takes time for every element below.
    package mutating func raise(to level: UInt8, where isMeant: (Element) -> Bool) {
        let lower = levels.indices.filter { levels[$0].level < level }
        for element in lower.flatMap({ levels[$0].takeAll(where: isMeant) }) { push(element, level: level) }
    }
}
