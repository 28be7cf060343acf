// The order in which waiting work is taken. Knows no threads and no locks.

/// Waiting elements by level: the highest level first, first come first served within one.
///
/// Adding and taking are amortised O(1) for the few levels there are.
package struct WorkQueue<Element: Sendable>: Sendable {
    /// What waits at one level; what has been taken is dropped once it is the larger half.
    private struct Line: Sendable {
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

    // The highest level first. Lines stay when they are empty.
    private var lines: [Line] = []

    /// Creates an empty queue.
    package init() {}

    /// Adds an element behind all others of its level.
    package mutating func push(_ element: Element, level: UInt8) {
        var index = 0
        while index < lines.count, lines[index].level > level { index += 1 }
        if index == lines.count || lines[index].level != level { lines.insert(Line(level: level), at: index) }
        lines[index].waiting.append(element)
    }

    /// Takes the first element of the highest level.
    package mutating func pop() -> Element? {
        for index in lines.indices {
            if let element = lines[index].pop() { return element }
        }
        return nil
    }

    /// Moves the elements that wait below a level to its end, which takes time for every element below.
    package mutating func raise(to level: UInt8, where isMeant: (Element) -> Bool) {
        var raised: [Element] = []
        for index in lines.indices.reversed() where lines[index].level < level {
            // Backwards, so that places stay true; what was taken already is left alone.
            for place in (lines[index].next..<lines[index].waiting.count).reversed()
            where isMeant(lines[index].waiting[place]) {
                raised.append(lines[index].waiting.remove(at: place))
            }
        }
        for element in raised.reversed() { push(element, level: level) }
    }
}
