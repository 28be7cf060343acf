// How short of memory the process is: for what watches the memory, and for users of the library.

/// How short of memory the process is. (Not in Kingfisher.)
///
/// `Kingfisher` exports it, and nothing else of this module.
public enum MemoryPressureLevel: Sendable, Hashable, Comparable, CaseIterable {
    /// There is enough.
    case none
    /// It gets scarce: what can be fetched again should shrink.
    case warning
    /// It has run out: what can be fetched again should go.
    case critical
}
