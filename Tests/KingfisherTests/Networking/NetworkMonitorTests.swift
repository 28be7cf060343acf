// Waiting until the machine has a network.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFTransport
@testable import Kingfisher

@Suite struct NetworkMonitorTests {
    private let network = Box<Bool?>(false)
    private let clock = ManualClock()
    private let watcher: ConnectivityWatcher
    private let monitor: NetworkMonitor

    init() {
        let network = network
        watcher = ConnectivityWatcher(
            reading: { network.value },
            changes: { nil },
            intervals: ConnectivityWatcher.Intervals(polling: .milliseconds(1), gathering: .zero)
        )
        monitor = NetworkMonitor(watcher: watcher, clock: clock)
    }

    /// Waits for one more reading of the state, which all observers are notified of.
    private func anotherReading() async {
        let read = Promise<Void>()
        let id = watcher.subscribe { _ in read.fulfil(()) }
        await read.value
        watcher.unsubscribe(id)
    }

    @Test("An observer is called once when there is a network, and nothing watches after that")
    func connects() async {
        let calls = Box<[Bool]>([]), called = Promise<Void>()
        #expect(!monitor.isConnected)
        let observer = monitor.observeConnectivity(timeoutInterval: 30) { state in
            calls.change { $0.append(state) }
            called.fulfil(())
        }
        await clock.waitForSleepers()
        await anotherReading()
        #expect(calls.value.isEmpty && watcher.isRunning)
        network.value = true
        await called.value
        #expect(monitor.isConnected && !watcher.isRunning && clock.sleeperCount == 0)
        await anotherReading()
        clock.advance(by: .seconds(60))
        observer.cancel()
        #expect(calls.value == [true])
    }

    @Test("A network that is there, or an unknown one, is reported soon", arguments: [true, nil] as [Bool?])
    func isThere(state: Bool?) async {
        network.value = state
        #expect(monitor.isConnected)
        let called = Promise<Bool>()
        _ = monitor.observeConnectivity(timeoutInterval: nil) { called.fulfil($0) }
        #expect(await called.value)
    }

    @Test("An observer is called with false when its time is over")
    func timesOut() async {
        let calls = Box<[Bool]>([]), called = Promise<Void>()
        _ = monitor.observeConnectivity(timeoutInterval: 5) { state in
            calls.change { $0.append(state) }
            called.fulfil(())
        }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        await called.value
        #expect(!watcher.isRunning)
        network.value = true
        await anotherReading()
        #expect(calls.value == [false])
    }

    @Test("A cancelled observer is not called, and its time does not run on")
    func cancels() async {
        let calls = Counter()
        let observer = monitor.observeConnectivity(timeoutInterval: 5) { _ in calls.add() }
        await clock.waitForSleepers()
        observer.cancel()
        observer.cancel()
        #expect(!watcher.isRunning && clock.sleeperCount == 0)
        network.value = true
        await anotherReading()
        clock.advance(by: .seconds(10))
        #expect(calls.value == 0)
    }

    @Test("The monitor of this machine waits no longer than it must")
    func thisMachine() async {
        let called = Promise<Bool>()
        let observer = NetworkMonitor.default.observeConnectivity(timeoutInterval: 0) { called.fulfil($0) }
        let state = await called.value
        #expect(!state || NetworkMonitor.default.isConnected)
        observer.cancel()
    }
}
