// Which results are large, and which are refused, as would not be ready in time.

import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct CapacityTests {
    /// Work that takes so many seconds, once one of its kind has been made.
    private func work(_ seconds: Double, of capacity: Capacity) -> Capacity.Work {
        capacity.observe(Capacity.Work(format: .avif, pixels: 1e6), seconds: 1)
        return Capacity.Work(format: .avif, pixels: seconds * 1e6)
    }

    private func name(_ admission: Capacity.Admission) -> String {
        switch admission {
        case .small: "small"
        case .large: "large"
        case .refused(let seconds): "after \(seconds) s"
        }
    }

    @Test("As many large results are admitted as can be ready in time, and small ones always") func limits() {
        let capacity = Capacity(workers: 2)
        let (large, small) = (work(1, of: capacity), work(0.1, of: capacity))
        var admitted: [Capacity.Admission] = []
        while admitted.count < 100 {
            let admission = capacity.admit(large, within: 5)
            guard case .large = admission else { break }
            admitted.append(admission)
        }
        // Of five seconds four count, the last of which is the result's own.
        #expect(admitted.count == 7 && capacity.secondsPending == 3.5)
        #expect(name(capacity.admit(large, within: 5)) == "after 1 s" && capacity.refusal(of: large, within: 5) == 1)
        #expect(name(capacity.admit(large, within: 2)) == "after 3 s")
        #expect(name(capacity.admit(small, within: 5)) == "small" && capacity.refusal(of: small, within: 5) == nil)
        admitted.removeLast()
        #expect(name(capacity.admit(large, within: 5)) == "large")
        admitted = []
        #expect(capacity.secondsPending == 0)
    }

    @Test("Where nothing else is made, what may take too long is tried") func alone() {
        let capacity = Capacity(workers: 1)
        let huge = work(1000, of: capacity)
        var admissions = [capacity.admit(huge, within: 10)]
        #expect(name(admissions[0]) == "large" && capacity.secondsPending == 10)
        #expect(name(capacity.admit(work(0.5, of: capacity), within: 10)) == "after 1 s")
        admissions = []
        #expect(capacity.secondsPending == 0 && name(capacity.admit(huge, within: 0)) == "large")
    }

    @Test("The pace of a kind follows what was made of it, whatever the numbers are") func pace() {
        let capacity = Capacity(workers: 1)
        let work = Capacity.Work(format: .jpeg, pixels: 1e6)
        #expect(name(capacity.admit(work, within: 10)) == "small")
        for _ in 0..<50 { capacity.observe(work, seconds: 2) }
        #expect(name(capacity.admit(work, within: 10)) == "large")
        for pixels in [0, -1, .nan, .infinity, 1e308] {
            let odd = Capacity.Work(format: .jpeg, pixels: pixels)
            for seconds in [0, -1, .nan, .infinity] {
                _ = capacity.admit(odd, within: seconds)
                capacity.observe(odd, seconds: seconds)
            }
        }
        #expect(name(capacity.admit(work, within: 10)) == "large")
    }

    @Test("A result that would not be ready in time is 429 with the time to wait, and its source is not loaded again")
    func refused() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png(2000, 1500))
            _ = try await rig.renderer.render(try rig.request("w:1900/f:avif"))
            rig.renderer.capacity.observe(Capacity.Work(format: .avif, pixels: 1), seconds: 1)
            let loaded = rig.server.count("/a")
            let held = rig.renderer.capacity.admit(Capacity.Work(pixels: 1e12), within: 100)
            let another = try rig.request("w:1800/f:avif")
            do throws(RenderingError) {
                _ = try await rig.renderer.render(another, in: nil, within: 1)
                Issue.record("It was made.")
            } catch {
                #expect(error.status == 429 && error.kind == "overloaded" && (error.retryAfter ?? 0) > 0)
            }
            #expect(rig.server.count("/a") == loaded)
            withExtendedLifetime(held) {}
        }
    }
}
