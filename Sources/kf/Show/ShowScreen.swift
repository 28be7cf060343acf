// Standard output while `kf show` draws, and pauses between two drawings.

import Foundation
import KFSupport

/// Standard output with one writer at a time, so that a pause never interrupts the drawing of an image.
final class ShowScreen: Sendable {
    private let descriptor: Int32
    /// The drawing that was begun and not yet ended.
    private let current = Locked<ShowDrawing?>(nil)
    /// One thread, so that writes and pauses come one after the other.
    private static let executor = WorkExecutor("kf.screen", threads: 1)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Begins a drawing; returns 0 or the error's number.
    func open(_ drawing: ShowDrawing) async -> Int32 {
        await Self.executor.run { () async -> Int32 in
            self.current.withLock { $0 = drawing }
            return self.put(drawing.opening)
        }
    }

    /// Writes one frame of the drawing; returns 0 or the error's number.
    func draw(_ bytes: [UInt8]) async -> Int32 {
        await Self.executor.run { () async -> Int32 in self.put(bytes) }
    }

    /// Ends the drawing, if one was begun.
    func close() async {
        await Self.executor.run { () async -> Void in
            let drawing = self.current.withLock { current in
                defer { current = nil }
                return current
            }
            if let drawing { _ = self.put(drawing.closing) }
        }
    }

    /// Restores the terminal while `stop` runs; afterwards the drawing goes on below.
    func pause(_ terminal: Terminal?, _ stop: @escaping @Sendable () -> Void) async {
        await Self.executor.run { () async -> Void in
            let drawing = self.current.withLock { $0 }
            if let drawing { _ = self.put(drawing.closing) }
            terminal?.suspend()
            stop()
            terminal?.disableEcho()
            if let drawing { _ = self.put(drawing.opening) }
        }
    }

    private func put(_ bytes: [UInt8]) -> Int32 {
        FileDescriptorOutput.write(bytes, to: descriptor) ? 0 : errno
    }
}
