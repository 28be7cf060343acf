// The queue of waiting transfers: its order and its limits.

import KingfisherTestSupport
import Testing

@testable import KFTransport

struct TransferQueueTests {
    private static let host = "http://a:80"

    /// Takes slots as long as there are any.
    private func all(_ queue: inout TransferQueue) -> [Int] {
        var taken: [Int] = []
        while let id = queue.next() { taken.append(id) }
        return taken
    }

    private func queue(total: Int = 100, perHost: Int = 100) -> TransferQueue {
        var queue = TransferQueue()
        (queue.total, queue.perHost) = (total, perHost)
        return queue
    }

    @Test("The oldest transfer goes first") func oldestFirst() {
        var queue = queue()
        for id in 1...4 { queue.add(id, to: Self.host, priority: 0.5, order: .oldestFirst) }
        #expect(all(&queue) == [1, 2, 3, 4])
        #expect(queue.runningCount == 4)
        #expect(queue.waitingCount == 0)
    }

    @Test("Newest-first transfers go before the others, the latest of them first") func newestFirst() {
        var queue = queue()
        for id in 1...3 { queue.add(id, to: Self.host, priority: 0.5, order: .oldestFirst) }
        for id in 4...6 { queue.add(id, to: Self.host, priority: 0.5, order: .newestFirst) }
        #expect(all(&queue) == [6, 5, 4, 1, 2, 3])
    }

    @Test("A higher priority goes before any order") func priorities() {
        var queue = queue()
        queue.add(1, to: Self.host, priority: 0.25, order: .newestFirst)
        queue.add(2, to: Self.host, priority: 0.75, order: .oldestFirst)
        queue.add(3, to: Self.host, priority: 0.5, order: .newestFirst)
        #expect(all(&queue) == [2, 3, 1])
    }

    @Test("A transfer whose priority rises moves, and keeps its age") func raisedPriority() {
        var queue = queue()
        for id in 1...4 { queue.add(id, to: Self.host, priority: 0.5, order: .oldestFirst) }
        queue.setPriority(1, of: 4)
        queue.setPriority(1, of: 3)
        queue.setPriority(0, of: 1)
        queue.setPriority(1, of: 99)
        #expect(all(&queue) == [3, 4, 2, 1])
        queue.setPriority(1, of: 1)
        #expect(queue.waitingCount == 0)
    }

    @Test("A removed transfer leaves nothing in the queue") func removing() {
        var queue = queue(total: 1)
        for id in 1...3 { queue.add(id, to: Self.host, priority: 0.5, order: .oldestFirst) }
        queue.remove(2)
        queue.remove(2)
        queue.remove(99)
        #expect(queue.waitingCount == 2)
        #expect(all(&queue) == [1])
        queue.finished(Self.host)
        #expect(all(&queue) == [3])
        queue.finished(Self.host)
        #expect(queue.runningCount == 0)
    }

    @Test("A host gets its connections, and more once it speaks HTTP/2") func hostLimit() {
        var queue = queue(total: 1_000, perHost: 2)
        for id in 1...300 { queue.add(id, to: Self.host, priority: 0.5, order: .oldestFirst) }
        queue.add(301, to: "http://b:80", priority: 0, order: .oldestFirst)
        #expect(all(&queue) == [1, 2, 301])
        queue.setMultiplexed(true, Self.host)
        #expect(all(&queue).count == 98)
        queue.setMultiplexed(false, Self.host)
        queue.finished(Self.host)
        #expect(all(&queue) == [])
    }

    @Test("The total limit may change while transfers run") func changedLimits() {
        var queue = queue(total: 2)
        for id in 1...6 { queue.add(id, to: Self.host, priority: 0.5, order: .oldestFirst) }
        #expect(all(&queue) == [1, 2])
        queue.total = 4
        #expect(all(&queue) == [3, 4])
        queue.total = 1
        queue.finished(Self.host)
        queue.finished(Self.host)
        queue.finished(Self.host)
        #expect(all(&queue) == [])
        queue.finished(Self.host)
        #expect(all(&queue) == [5])
    }

    @Test("No host takes all slots while another waits") func fairness() {
        var queue = queue(total: 3)
        for id in 1...9 { queue.add(id, to: Self.host, priority: 1, order: .newestFirst) }
        queue.add(10, to: "http://b:80", priority: 0, order: .oldestFirst)
        #expect(all(&queue) == [9, 8, 10])
        queue.finished(Self.host)
        queue.add(11, to: "http://b:80", priority: 0, order: .oldestFirst)
        #expect(all(&queue) == [7])
        // With a single slot the order alone decides.
        var narrow = self.queue(total: 1)
        narrow.add(1, to: Self.host, priority: 1, order: .oldestFirst)
        narrow.add(2, to: "http://b:80", priority: 0, order: .oldestFirst)
        #expect(all(&narrow) == [1])
    }

    @Test("The next hop of a transfer goes before transfers of its priority that have not begun") func continued() {
        var queue = queue()
        queue.add(1, to: Self.host, priority: 0.5, order: .newestFirst)
        queue.add(2, to: Self.host, priority: 0.5, order: .oldestFirst, isContinued: true)
        queue.add(3, to: Self.host, priority: 0.75, order: .oldestFirst)
        #expect(all(&queue) == [3, 2, 1])
    }

    @Test("Ten thousand random steps agree with a list that is sorted each time", arguments: [1, 2, 3])
    func model(seed: UInt64) {
        struct Waiting {
            let id: Int, host: Int, order: TransferOrder
            var priority: Float
        }
        var random = SeededGenerator(state: seed)
        var queue = queue(total: 6, perHost: 4)
        var waiting: [Waiting] = []
        var running: [(id: Int, host: Int)] = []
        func name(_ host: Int) -> String { "http://\(host):80" }
        for id in 1...10_000 {
            switch random.next() % 5 {
            case 0, 1:
                let added = Waiting(
                    id: id,
                    host: Int(random.next() % 3),
                    order: random.next() % 2 == 0 ? .newestFirst : .oldestFirst,
                    priority: Float(random.next() % 3)
                )
                waiting.append(added)
                queue.add(id, to: name(added.host), priority: added.priority, order: added.order)
            case 2:
                guard let left = waiting.indices.randomElement(using: &random) else { continue }
                queue.remove(waiting.remove(at: left).id)
            case 3:
                guard let index = waiting.indices.randomElement(using: &random) else { continue }
                waiting[index].priority = Float(random.next() % 3)
                queue.setPriority(waiting[index].priority, of: waiting[index].id)
            default:
                guard let index = running.indices.randomElement(using: &random) else { continue }
                queue.finished(name(running.remove(at: index).host))
            }
            let sorted = waiting.sorted { a, b in
                if a.priority != b.priority { return a.priority > b.priority }
                if a.order != b.order { return a.order == .newestFirst }
                return a.order == .newestFirst ? a.id > b.id : a.id < b.id
            }
            func count(_ host: Int) -> Int { running.count { $0.host == host } }
            let free = sorted.filter { count($0.host) < 4 }
            var expected = running.count < 6 ? free.first : nil
            if let best = expected, running.count == 5, count(best.host) == 5 {
                expected = free.first { $0.host != best.host } ?? best
            }
            #expect(queue.next() == expected?.id)
            if let expected {
                waiting.removeAll { $0.id == expected.id }
                running.append((expected.id, expected.host))
            }
            #expect(queue.waitingCount == waiting.count)
            #expect(queue.runningCount == running.count)
        }
    }
}
