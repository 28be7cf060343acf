// From variables of the environment to a configuration, and what is wrong with them. For the program, at its start.

import Foundation

extension ServerConfiguration {
    /// Reads a configuration; variables that are wrong leave the default, and are listed by the names that they have in
    /// the environment.
    ///
    /// Only `PORT` and names that begin with `KF_` or `IMGPROXY_` are looked at. An empty variable is as if it were not
    /// set, but for ``Setting/mayBeEmpty``. As soon as one of imgproxy's is set, its defaults hold
    /// (``ImgproxySettings/initial``).
    package static func read(
        _ environment: [String: String]
    ) -> (configuration: ServerConfiguration, problems: [ConfigurationProblem]) {
        var (environment, problems) = withFile(environment)
        let names = SettingNames(environment)
        var configuration = names.isImgproxys ? imgproxys : ServerConfiguration()
        problems += configuration.readPort(of: environment)
        for setting in SettingsTable.all {
            guard let name = setting.name(in: environment), let text = environment[name] else { continue }
            if setting.set(&configuration, text) {
                if let note = setting.note(text) { problems.append(.warning(name, note)) }
            } else {
                let found = setting.isSecret ? "The value" : quoted(withoutCredentials(text))
                problems.append(.error(name, "\(found) is not valid; it must be: \(setting.words)."))
            }
        }
        let others = configuration.readPresetsFile() + configuration.contradictions() + configuration.missingFiles()
        problems += unknownNames(in: environment) + others.map(names.asWritten)
        return (configuration, problems.sorted { $0.name < $1.name })
    }

    /// The environment with the variables of the file that it names.
    private static func withFile(
        _ environment: [String: String]
    ) -> (environment: [String: String], problems: [ConfigurationProblem]) {
        let names = ["KF_ENV_LOCAL_FILE_PATH", "IMGPROXY_ENV_LOCAL_FILE_PATH"]
        guard let name = names.first(where: { !(environment[$0] ?? "").isEmpty }), let path = environment[name] else {
            return (environment, [])
        }
        switch textOfFile(path, for: name) {
        case .failure(let complaint): return (environment, [complaint.problem])
        case .success(let text):
            let file = EnvironmentFile(text, in: environment)
            var problems = file.badLines.map { line in
                ConfigurationProblem.error(name, "Line \(line) of \(quoted(path)) is not NAME=value.")
            }
            // The name may be a part of a secret.
            for line in file.linesNamingNone {
                let complaint = "names a variable that is not set; in single quotes, a $ stands for itself."
                problems.append(.warning(name, "Line \(line) of \(quoted(path)) \(complaint)"))
            }
            for variable in file.variables.keys.sorted() where variable.hasPrefix("AWS_") {
                let complaint = "\(variable) is not read from a file: put it into the environment of the server."
                problems.append(.error(name, complaint))
            }
            return (environment.merging(file.variables) { $1 }, problems)
        }
    }

    /// The presets of the file of presets, beside those of the setting.
    private mutating func readPresetsFile() -> [ConfigurationProblem] {
        guard let path = urls.presetsPath else { return [] }
        let name = "KF_PRESETS_PATH"
        switch textOfFile(path, for: name) {
        case .failure(let complaint): return [complaint.problem]
        case .success(let text):
            guard let presets = Presets.read(text.split(whereSeparator: \.isNewline).map(String.init)) else {
                return [.error(name, "A line of \(quoted(path)) is not name=option/option.")]
            }
            urls.presets.merge(presets) { $1 }
            return []
        }
    }

    /// Files that settings name, and that cannot be read.
    private func missingFiles() -> [ConfigurationProblem] {
        guard let path = delivery.fallback.path, delivery.fallback.data.isEmpty,
            !FileManager.default.isReadableFile(atPath: path)
        else { return [] }
        return [.error("KF_FALLBACK_IMAGE_PATH", "\(quoted(path)) cannot be read.")]
    }

    /// A configuration of nothing but imgproxy's defaults.
    private static let imgproxys: ServerConfiguration = {
        var configuration = ServerConfiguration()
        for (name, text) in ImgproxySettings.initial {
            let setting = SettingsTable.all.first { $0.names.contains(Setting.imgproxyPrefix + name) }
            _ = setting?.set(&configuration, text)
        }
        return configuration
    }()

    /// The port that platforms give programs, for a server whose address is not set.
    private mutating func readPort(of environment: [String: String]) -> [ConfigurationProblem] {
        guard let text = environment["PORT"], !text.isEmpty else { return [] }
        guard let port = UInt16(text) else {
            let isSet = ["KF_BIND", "IMGPROXY_BIND"].contains { !(environment[$0] ?? "").isEmpty }
            return isSet ? [] : [.error("PORT", "\(quoted(text)) is no port; set it to 0–65535, or set KF_BIND.")]
        }
        address.port = Int(port)
        return []
    }

    private static func unknownNames(in environment: [String: String]) -> [ConfigurationProblem] {
        // The library looks there for the program that decodes.
        let known = Set(SettingsTable.all.flatMap(\.names) + ["KF_DECODER"])
        var problems: [ConfigurationProblem] = []
        var meaningless: [String] = []
        for (name, value) in environment where !known.contains(name) {
            if let setting = ImgproxySettings.unread[name] ?? ImgproxySettings.pro[name] {
                if setting.isHarmless(value) { continue }
                if let instead = setting.instead {
                    problems.append(.error(name, instead))
                } else {
                    meaningless.append(name)
                }
            } else if name.hasPrefix("KF_") {
                problems.append(.error(name, "There is no such setting."))
            } else if name.hasPrefix(Setting.imgproxyPrefix), !value.isEmpty {
                problems.append(.warning(name, "This setting is unknown here, and does nothing."))
            }
        }
        guard !meaningless.isEmpty else { return problems }
        let sentence = meaningless.count == 1 ? "This setting does nothing here." : "These settings do nothing here."
        return problems + [.warning(meaningless.sorted().joined(separator: ", "), sentence)]
    }

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
        if delivery.fallback.source != nil || delivery.fallback.isOwn, delivery.fallback.maxAge == 0 {
            let complaint = "Caches keep the fallback image as long as others, KF_TTL, also after a moment's failure."
            problems.append(.warning("KF_FALLBACK_IMAGE_TTL", complaint))
        }
        let isLimited = !urls.allowedSources.isEmpty || !urls.signatures.pairs.isEmpty
        if sources.handsCookiesOn, sources.handsCookiesToAll, !isLimited {
            let complaint = "Cookies would be sent to any host that a URL names: set KF_ALLOWED_SOURCES, or sign URLs."
            problems.append(.error("KF_COOKIE_PASSTHROUGH_ALL", complaint))
        }
        if let base = sources.cookieBase, URL(string: base)?.host?.isEmpty != false {
            problems.append(.error("KF_COOKIE_BASE_URL", "It must be a URL with a host, such as https://example.com."))
        }
        if urls.baseURL.contains("://"), !urls.baseURL.hasSuffix("/") {
            let complaint = "Sources continue the last part of the URL, and a host if that is all; end it with a slash."
            problems.append(.warning("KF_BASE_URL", complaint))
        }
        let cloud = sources.googleCloud
        if cloud.isUsed, cloud.accessKeyID == nil || cloud.secretAccessKey == nil {
            let complaint =
                "gs:// takes an HMAC key, which `gcloud storage hmac create` makes: set KF_GCS_ACCESS_KEY_ID and"
                + " KF_GCS_SECRET_ACCESS_KEY."
            problems.append(.error("KF_USE_GCS", complaint))
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
