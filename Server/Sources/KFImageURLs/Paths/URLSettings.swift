// What a server's configuration says about URLs. For the parser.

/// The rules that URLs are read by.
package struct URLSettings: Hashable, Sendable {
    /// What all paths begin with, like `/images`; without a slash at its end.
    package var prefix = ""
    package var signatures = SignatureRules()
    /// Put before sources that do not begin with it.
    package var baseURL = ""
    /// The options of each preset, a segment each.
    ///
    /// That of the name `default` is applied to all.
    package var presets: [String: [String]] = [:]
    /// What stands between presets in a setting.
    package var presetsSeparator = ","
    /// The file of further presets.
    var presetsPath: String?
    /// What a URL without options asks for.
    package var initialPlan = ImagePlan()
    /// The names that options of URLs may have; empty allows all.
    package var allowedOptions: [String] = []
    /// What stands between an option and its arguments.
    package var argumentsSeparator = ":"
    /// Whether the last segment of a source in base64 is a name that does not count.
    package var base64IncludesFilename = false
    /// What is done to sources before anything else.
    package var replacements: [SourceReplacement] = []
    /// Whether the options of a URL are names of presets and nothing else.
    package var allowsOnlyPresets = false
    /// Whether URLs may change the server's limits.
    package var allowsSecurityOptions = false
    /// Empty allows all.
    package var allowedSources: [SourcePattern] = []
    /// Sources of these formats are sent as they are, beside those that a URL names.
    package var keptFormats: [FileFormat] = []
    /// The formats that results can have.
    package var writableFormats: Set<FileFormat> = [.jpeg, .png, .webp, .avif, .gif, .ico, .bmp, .tiff]

    package init() {}

    /// An option and its arguments.
    func arguments(of segment: String) -> [String] {
        segment.utf8.split(separator: argumentsSeparator.utf8, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }

    package func allows(source: [UInt8]) -> Bool {
        allowedSources.isEmpty || (!hasDotSegments(source) && allowedSources.contains { $0.matches(source) })
    }
}
