// Applies options and presets to a plan, one after the other. For the parser, and to check the presets of a
// configuration.

/// A plan in the making.
struct PlanBuilder {
    var plan: ImagePlan
    /// What was read in another way than it was meant.
    private(set) var warnings: [String] = []
    private let settings: URLSettings
    /// Those that are being applied, the outermost first.
    private var presets: [String] = []

    init(settings: URLSettings) {
        self.settings = settings
        plan = settings.initialPlan
        plan.output.keptFormats = Set(settings.keptFormats)
    }

    mutating func warn(_ warning: String) {
        warnings.append(warning)
    }

    /// Applies a segment like `rs:fill:300:200`.
    mutating func apply(segment: String) throws(RequestError) {
        var values = settings.arguments(of: segment)
        let name = values.removeFirst()
        // Those of presets are the operator's own.
        if presets.isEmpty, !settings.allowedOptions.isEmpty, !settings.allowedOptions.contains(name) {
            throw .disallowedOption(name: name)
        }
        guard let option = OptionTable.byName[name] else { throw .unknownOption(name: name) }
        if option.group == .limits && !settings.allowsSecurityOptions { throw .forbiddenOption(name: name) }
        if option.names[0] == "preset" {
            for preset in values where !preset.isEmpty { try apply(preset: preset) }
        } else if let complaint = option.apply(values, to: &self) {
            throw .badOption(name: name, complaint: complaint)
        }
    }

    /// Applies a preset, unless that is what is being done.
    mutating func apply(preset name: String) throws(RequestError) {
        guard let segments = settings.presets[name] else { throw .unknownPreset(name: name) }
        if presets.contains(name) { return warn("Preset \(quoted(name)) contains itself; that is left out.") }
        presets.append(name)
        for segment in segments { try apply(segment: segment) }
        presets.removeLast()
    }
}
