// From variables of the environment to a configuration, and what is wrong with them. For the program, at its start.

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
}

extension ServerConfiguration {
    /// Reads a configuration; variables that are wrong leave the default, and are listed by name.
    ///
    /// Only names that begin with `KF_` or `IMGPROXY_` are looked at. An empty variable is as if it were not set.
    package static func read(
        _ environment: [String: String]
    ) -> (configuration: ServerConfiguration, problems: [ConfigurationProblem]) {
        var configuration = ServerConfiguration()
        var problems: [ConfigurationProblem] = []
        for setting in SettingsTable.all {
            let name = setting.names.first { !(environment[$0] ?? "").isEmpty }
            guard let name, let text = environment[name], !setting.set(&configuration, text) else { continue }
            let found = setting.isSecret ? "The value" : quoted(withoutCredentials(text))
            problems.append(.error(name, "\(found) is not valid; it must be: \(setting.words)."))
        }
        problems += unknownNames(in: environment) + configuration.contradictions()
        return (configuration, problems.sorted { $0.name < $1.name })
    }

    private static func unknownNames(in environment: [String: String]) -> [ConfigurationProblem] {
        // The library looks there for the program that decodes.
        let known = Set(SettingsTable.all.flatMap(\.names) + ["KF_DECODER"])
        return environment.keys.filter { !known.contains($0) }.compactMap { name in
            if name.hasPrefix("KF_") { return .error(name, "There is no such setting.") }
            if let advice = protections[name], !(environment[name] ?? "").isEmpty { return .error(name, advice) }
            return name.hasPrefix("IMGPROXY_") ? .warning(name, "This setting is unknown here, and does nothing.") : nil
        }
    }

    /// Settings of imgproxy that keep somebody out, and are not understood; with what to do.
    private static let protections = [
        "IMGPROXY_SECRET":
            "This server asks for no token: sign the URLs (KF_KEY, KF_SALT) or have a proxy ask, and remove the setting.",
        "IMGPROXY_ALLOWED_PROCESSING_OPTIONS":
            "This server allows all options: sign the URLs (KF_KEY, KF_SALT) or set KF_ONLY_PRESETS, and remove the setting.",
    ]

    /// What is wrong with settings that are right each by itself.
    private func contradictions() -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        let (keys, salts) = (urls.signatures.keys.count, urls.signatures.salts.count)
        if keys != salts {
            problems.append(.error("KF_SALT", "There are \(keys) keys and \(salts) salts; each key needs its salt."))
        }
        for pattern in urls.allowedSources where pattern.endsWithinHost {
            let complaint =
                "\(quoted(withoutCredentials(pattern.text))) allows longer names of hosts, too; end it with a slash."
            problems.append(.warning("KF_ALLOWED_SOURCES", complaint))
        }
        for name in urls.presets.keys.sorted() {
            var builder = PlanBuilder(settings: urls)
            do throws(RequestError) {
                try builder.apply(preset: name)
            } catch {
                problems.append(.error("KF_PRESETS", "Preset \(quoted(name)): \(error.reason)"))
            }
            problems += builder.warnings.map { .warning("KF_PRESETS", "Preset \(quoted(name)): \($0)") }
        }
        if urls.allowsOnlyPresets && urls.presets.isEmpty {
            problems.append(.error("KF_ONLY_PRESETS", "There are no presets; set KF_PRESETS."))
        }
        if (1..<200).contains(delivery.fallback.status) {
            problems.append(.error("KF_FALLBACK_IMAGE_HTTP_CODE", "It must be 0, or from 200 on."))
        }
        if delivery.fallback.source != nil, delivery.fallback.maxAge == 0 {
            let complaint = "Caches keep the fallback image as long as others, KF_TTL, also after a moment's failure."
            problems.append(.warning("KF_FALLBACK_IMAGE_TTL", complaint))
        }
        if urls.baseURL.contains("://"), !urls.baseURL.hasSuffix("/") {
            let complaint = "Sources continue the last part of the URL, and a host if that is all; end it with a slash."
            problems.append(.warning("KF_BASE_URL", complaint))
        }
        return problems
    }

    /// All settings by name with what is in force; of secrets only whether they are set, and URLs without credentials.
    package var inForce: [(name: String, value: String)] {
        SettingsTable.all.map { setting in
            let value = setting.show(self)
            return (setting.names[0], setting.isSecret && !value.isEmpty ? "(set)" : withoutCredentials(value))
        }
    }
}

/// A text with stars in place of what URLs in it have before their hosts.
private func withoutCredentials(_ text: String) -> String {
    text.replacing(#/://[^/?#]*@/#, with: "://***@")
}

extension ConfigurationProblem {
    fileprivate static func error(_ name: String, _ text: String) -> Self {
        Self(name: name, text: text, isError: true)
    }

    fileprivate static func warning(_ name: String, _ text: String) -> Self {
        Self(name: name, text: text, isError: false)
    }
}
