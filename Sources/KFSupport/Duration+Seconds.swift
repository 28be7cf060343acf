// Durations as the numbers that system calls and users have, and back. For code that waits or measures.

package import Foundation

extension Duration {
    /// So many seconds, from 0 to a billion: a duration can be neither infinite nor no number.
    package init(clampingSeconds seconds: TimeInterval) { self = .seconds(min(max(0, seconds), 1e9)) }

    package var inSeconds: TimeInterval { self / .seconds(1) }

    /// Milliseconds as `poll` takes them: rounded up, never negative.
    package var milliseconds: Int32 { Int32(clamping: Int64(max(0, (self / .milliseconds(1)).rounded(.up)))) }
}
