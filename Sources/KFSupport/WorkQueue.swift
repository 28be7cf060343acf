// The order in which waiting work is taken. Knows no threads and no locks.

/// Waiting elements by level: the highest level first, first come first served within one.
///
/// Adding and taking are amortised O(1) for the few levels there are.
package struct WorkQueue<Element: Sendable>: Sendable {
    /// What waits at one level; what has been taken is dropped once it is the larger half.
    private struct LevelQueue: Sendable {
        let level: UInt8
        var waiting: [Element] = []
        var next = 0

        mutating func pop() -> Element? {
            guard next < waiting.count else { return nil }
            defer {
                next += 1
                if next * 2 > waiting.count, next >= 64 || next == waiting.count {
                    waiting.removeFirst(next)
                    next = 0
                }
            }
            return waiting[next]
        }
    }

    // The highest level first. A level stays when its queue is empty.
    private var levels: [LevelQueue] = []

    /// Creates an empty queue.
    package init() {}

    /// Adds an element behind all others of its level.
    package mutating func push(_ element: Element, level: UInt8) {
        var index = 0
        while index < levels.count, levels[index].level > level { index += 1 }
        if index == levels.count || levels[index].level != level { levels.insert(LevelQueue(level: level), at: index) }
        levels[index].waiting.append(element)
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
        var raised: [Element] = []
        for index in levels.indices.reversed() where levels[index].level < level {
            // Backwards, so that the indices stay valid; what was taken already is left alone.
            for position in (levels[index].next..<levels[index].waiting.count).reversed()
            where isMeant(levels[index].waiting[position]) {
                raised.append(levels[index].waiting.remove(at: position))
            }
        }
        for element in raised.reversed() { push(element, level: level) }
    }
}
