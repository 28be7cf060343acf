// What is wrong with a configuration, with the names of settings that its environment has. For the program, at its
// start.

/// A complaint about a configuration.
package struct ConfigurationProblem: Hashable, Sendable {
    /// The variable.
    package let name: String
    /// A sentence, without the values of secrets.
    package let text: String
    /// Whether the server must not start like this.
    package let isError: Bool

    package init(name: String, text: String, isError: Bool) {
        (self.name, self.text, self.isError) = (name, text, isError)
    }

    static func error(_ name: String, _ text: String) -> Self {
        Self(name: name, text: text, isError: true)
    }

    static func warning(_ name: String, _ text: String) -> Self {
        Self(name: name, text: text, isError: false)
    }
}

/// The names that whoever wrote an environment knows.
package struct SettingNames: Sendable {
    /// By the names that this server gives them.
    private let written: [String: String]
    /// Whether any setting has the name that it has in imgproxy.
    let isImgproxys: Bool

    package init(_ environment: [String: String]) {
        let names = environment.filter { !$0.value.isEmpty }.keys
        isImgproxys = names.contains { $0.hasPrefix(Setting.imgproxyPrefix) }
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
    func name(in environment: [String: String]) -> String? {
        names.first { name in environment[name].map { mayBeEmpty || !$0.isEmpty } ?? false }
    }
}
