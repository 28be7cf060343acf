// How short of memory the process is, in users' words. Knows nothing of how that is found out.

import KFSupport

/// How short of memory the process is. (Not in Kingfisher.)
public enum MemoryPressureLevel: Sendable, Hashable, CaseIterable {
    /// There is enough.
    case none
    /// It gets scarce: what can be fetched again should shrink.
    case warning
    /// It has run out: what can be fetched again should go.
    case critical

    init(_ pressure: MemoryPressure) {
        switch pressure {
        case .none: self = .none
        case .warning: self = .warning
        case .critical: self = .critical
        }
    }
}
