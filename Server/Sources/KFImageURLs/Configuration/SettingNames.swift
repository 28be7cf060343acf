// How an environment names the settings. For messages about it, and for the program.

/// The names that whoever wrote an environment knows.
package struct SettingNames: Sendable {
    /// By the names that this server gives them.
    private let written: [String: String]
    /// Whether any setting has the name that it has in imgproxy.
    let isImgproxys: Bool

    package init(_ environment: [String: String]) {
        let names = environment.filter { !$0.value.isEmpty }.keys
        isImgproxys = names.contains { $0.hasPrefix(ImgproxySettings.prefix) }
        let isOnlyImgproxys = isImgproxys && !names.contains { $0.hasPrefix("KF_") }
        var written: [String: String] = [:]
        for setting in SettingsTable.all {
            let other = isOnlyImgproxys ? setting.names.dropFirst().first : nil
            written[setting.names[0]] = setting.name(in: environment) ?? other
        }
        self.written = written
    }

    /// A text with the names that are in the environment in place of this server's own.
    package func asWritten(_ text: String) -> String {
        text.replacing(#/KF_[A-Z0-9_]+/#) { match in written[String(match.output)] ?? String(match.output) }
    }

    package func asWritten(_ problem: ConfigurationProblem) -> ConfigurationProblem {
        ConfigurationProblem(
            name: asWritten(problem.name),
            text: asWritten(problem.text),
            isError: problem.isError
        )
    }
}

extension Setting {
    /// The name that it has in an environment; nil where it is not set.
    func name(in environment: [String: String]) -> String? { names.first { !(environment[$0] ?? "").isEmpty } }
}
