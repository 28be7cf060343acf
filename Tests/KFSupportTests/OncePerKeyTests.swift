// Values that are made once for each key.

import KFSupport
import Testing

@Suite struct OncePerKeyTests {
    @Test("Of many concurrent callers one makes the value and all get it; another key has a value of its own")
    func once() async {
        let (values, made) = (OncePerKey<Int, Int>(), Box(0))
        let results = await withTaskGroup(of: Int.self) { group in
            for caller in 0..<64 {
                group.addTask {
                    await values.value(for: caller % 2) {
                        made.add(1)
                        await Task.yield()
                        return 7 + caller % 2
                    }
                }
            }
            return await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(results == [7: 32, 8: 32])
        #expect(made.value == 2)
    }

    @Test("The first caller that claims a key has to fulfil its promise")
    func claims() async {
        let values = OncePerKey<String, Int>()
        let (first, second) = (values.claim("a"), values.claim("a"))
        #expect(first.isFirst && !second.isFirst)
        first.value.fulfil(1)
        #expect(await second.value.value == 1)
    }
}
