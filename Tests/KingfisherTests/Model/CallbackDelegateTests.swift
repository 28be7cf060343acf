// Callback delegates: callbacks with weak targets.

import Testing

@testable import Kingfisher

@Suite struct CallbackDelegateTests {
    private final class Target {
        var inputs: [Int] = []
    }

    @Test("The block is called with its target") func blockTarget() {
        let target = Target(), delegate = Delegate<Int, String>()
        #expect(!delegate.isSet && delegate(1) == nil)
        delegate.delegate(on: target) { target, input in
            target.inputs.append(input)
            return "\(input)"
        }
        #expect(delegate.isSet)
        #expect(delegate(7) == "7" && delegate.call(8) == "8")
        #expect(target.inputs == [7, 8])
        delegate.delegate(on: target, block: nil)
        #expect(!delegate.isSet && delegate(9) == nil)
    }

    @Test("An asynchronous block is called by the asynchronous form alone, and that calls either kind")
    func asynchronousBlock() async {
        let target = Target(), delegate = Delegate<Int, String>()
        #expect(await delegate.callAsync(1) == nil)
        delegate.delegate(on: target) { target, input async in
            await Task.yield()
            target.inputs.append(input)
            return "\(input)"
        }
        #expect(delegate.isSet && delegate(1) == nil)
        #expect(await delegate.callAsync(2) == "2" && target.inputs == [2])
        delegate.delegate(on: target) { _, input in "once \(input)" }
        #expect(await delegate.callAsync(3) == "once 3")
    }

    @Test("A copy has the same block until one of the two is given another") func copies() {
        let target = Target(), one = Delegate<Int, String>()
        one.delegate(on: target) { _, input in "\(input)" }
        let two = one.copy()
        #expect(two(1) == "1")
        two.set { _ in "other" }
        #expect(one(2) == "2" && two(2) == "other")
        one.set(nil)
        #expect(!one.isSet && two.isSet)
    }

    @Test("The target is not kept alive") func weakTarget() {
        let delegate = Delegate<Void, Int>()
        var target: Target? = Target()
        weak let weakTarget = target
        if let target { delegate.delegate(on: target) { _, _ in 1 } }
        #expect(delegate() == 1)
        target = nil
        #expect(weakTarget == nil && delegate() == nil)
    }
}
