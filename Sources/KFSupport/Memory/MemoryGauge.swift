// How short of memory the process is, judged from the kernel's files. For MemoryPressureMonitor.

/// How short of memory the process is. (Not in Kingfisher.)
///
/// `Kingfisher` exports it, and nothing else of this module.
public enum MemoryPressureLevel: Sendable, Hashable, Comparable, CaseIterable {
    /// There is enough.
    case none
    /// It gets scarce: caches of data that can be fetched again should shrink.
    case warning
    /// It has run out: data that can be fetched again should go.
    case critical
}

/// Judges by polling: for kernels and containers that accept no triggers.
///
/// The reading depends on the share of time that tasks were stalled for memory in the last ten seconds, on how full the
/// control groups are without the file pages that can be dropped at any time, and on how often their limits were hit
/// since the last reading. Stalls count only where memory is short, too: tasks also wait for it while the kernel moves
/// pages, or in a group of their own that is full, and nothing that this process frees would help them.
/// On a kernel that does not measure stalls, the machine's available memory counts instead.
struct MemoryGauge {
    private let root: String
    private let group: ControlGroup
    /// How often each limit had been hit at the last reading.
    private var hits: [String: UInt64]

    init(root: String) {
        self.root = root
        group = ControlGroup(root: root)
        hits = [:]
        hits = currentHits
    }

    /// Whether a control group limits the process: then there is something to poll that stalls do not show.
    var hasLimits: Bool { group.memoryLimit != nil }

    /// The files that report stalls and accept triggers: the file of the process's own group, then the machine's.
    var stallFiles: [String] {
        ["\(group.unified.first ?? "")/memory.pressure", "\(root)/proc/pressure/memory"]
    }

    /// The pressure now.
    mutating func reading() -> MemoryPressureLevel {
        let stalls = stallFiles.lazy.compactMap(ControlGroup.text).first.map(Self.level(ofStalls:))
        let usages = usages + (stalls == nil ? [machineUsage].compactMap(\.self) : [])
        let fullest = usages.map(\.share).max()
        let byUsage = usages.map(\.level).max() ?? .none
        return max(confirmed(stalls ?? .none), byUsage, levelOfHits(fullest: fullest))
    }

    // MARK: Stalls

    /// The level of stalls, or none unless the machine or a control group is three quarters full, as far as that is
    /// known.
    func confirmed(_ stalls: MemoryPressureLevel) -> MemoryPressureLevel {
        guard stalls > .none else { return .none }
        let fullest = (usages + [machineUsage].compactMap(\.self)).map(\.share).max()
        return (fullest ?? 1) >= Self.short ? stalls : .none
    }

    /// The share of the memory, or of a limit, that is taken where it is short.
    private static let short = 0.75

    /// The thresholds are those that ``MemoryPressureTrigger`` gives to the kernel.
    static func level(ofStalls text: String) -> MemoryPressureLevel {
        if average(of: "full", in: text) >= 20 { return .critical }
        return average(of: "some", in: text) >= 10 ? .warning : .none
    }

    /// The per cent of `some avg10=1.23 avg60=…`.
    private static func average(of kind: String, in text: String) -> Double {
        let line = text.split(separator: "\n").first { $0.hasPrefix(kind + " ") }
        let field = line?.split(separator: " ").first { $0.hasPrefix("avg10=") }
        return field.flatMap { Double($0.dropFirst(6)) } ?? 0
    }

    // MARK: Limits

    /// How much of a limit is used.
    private struct Usage {
        let share: Double
        /// Reaching a throttling limit is slow; reaching a hard one is the end.
        let isHard: Bool

        var level: MemoryPressureLevel {
            if share >= 0.97, isHard { return .critical }
            return share >= 0.9 ? .warning : .none
        }
    }

    private var usages: [Usage] {
        group.unified.flatMap { directory in
            usages(
                directory,
                used: "memory.current",
                droppable: "inactive_file",
                hard: "memory.max",
                soft: "memory.high"
            )
        }
            + group.memory.flatMap { directory in
                usages(
                    directory,
                    used: "memory.usage_in_bytes",
                    droppable: "total_inactive_file",
                    hard: "memory.limit_in_bytes",
                    soft: nil
                )
            }
    }

    private func usages(_ directory: String, used: String, droppable: String, hard: String, soft: String?) -> [Usage] {
        let limits = [(hard, true)] + (soft.map { [($0, false)] } ?? [])
        let known = limits.compactMap { name, isHard in
            ControlGroup.number("\(directory)/\(name)").map { (bytes: $0, isHard: isHard) }
        }
        guard !known.isEmpty, let used = ControlGroup.number("\(directory)/\(used)") else { return [] }
        let droppable = ControlGroup.table("\(directory)/memory.stat")[droppable] ?? 0
        let needed = Double(used - min(used, droppable))
        return known.map { Usage(share: needed / Double(max(1, $0.bytes)), isHard: $0.isHard) }
    }

    /// Nil where the kernel does not say it.
    private var machineUsage: Usage? {
        let table = ControlGroup.table("\(root)/proc/meminfo")
        guard let total = table["MemTotal"], let available = table["MemAvailable"], total > 0 else {
            return nil
        }
        return Usage(share: 1 - Double(available) / Double(total), isHard: true)
    }

    // MARK: Hits

    private var currentHits: [String: UInt64] {
        group.unified.lazy.map { ControlGroup.table("\($0)/memory.events") }.first { !$0.isEmpty } ?? [:]
    }

    /// A group that is full of file pages hits its limit all the time, which is no pressure: hits count when most of it
    /// is taken by something else.
    private mutating func levelOfHits(fullest: Double?) -> MemoryPressureLevel {
        let before = hits
        let now = currentHits
        hits = now
        func rose(_ name: String) -> Bool { now[name, default: 0] > before[name, default: 0] }
        if rose("oom") { return .critical }
        return (rose("high") || rose("max")) && (fullest ?? 1) >= Self.short ? .warning : .none
    }
}
