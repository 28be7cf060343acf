// The place where pictures are drawn, and the pauses in between. Knows nothing of what is drawn.

import Foundation
import KFSupport

/// Standard output with one writer at a time, so that a pause never falls into the middle of a picture.
final class ShowScreen: Sendable {
    private let descriptor: Int32
    /// What was begun and is not yet ended.
    private let current = Locked<ShowDrawing?>(nil)
    /// One thread: whatever is written or done here comes one after the other.
    private static let executor = WorkExecutor("kf.screen", threads: 1)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Begins a drawing; returns 0 or the error's number, as the others do.
    func open(_ drawing: ShowDrawing) async -> Int32 {
        await Self.executor.run { () async -> Int32 in
            self.current.withLock { $0 = drawing }
            return self.put(drawing.opening)
        }
    }

    /// Writes one picture of the drawing.
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

    /// Leaves the terminal as it was found while `stop` lasts, and goes on below afterwards.
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
