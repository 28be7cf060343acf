// The reference page of options and settings, in Markdown. Made from the tables; a test compares the page in the docs.

/// The reference page.
package enum ReferencePage {
    /// All of it.
    package static var markdown: String {
        ([introduction] + ImageOption.Group.allCases.map(section) + [settings, imgproxys]).joined(separator: "\n")
    }

    private static let introduction = """
        # The image server's options and settings

        Every option of a URL, and every setting of the environment.

        This page is made from the tables in `Server/Sources/KFImageURLs`; `make server-reference` writes it.

        The path of an image is

            /SIGNATURE/OPTION:ARGUMENT:…/OPTION:…/plain/SOURCE@FORMAT
            /SIGNATURE/OPTION:ARGUMENT:…/OPTION:…/BASE64.FORMAT

        where the source is percent-encoded behind `plain/` (an `@` in it is `%40`), or in base64 with the alphabet for URLs, in
        which slashes may stand anywhere. The format may be left out. The order of options does not matter; if an option appears
        twice, the last one counts. An argument that is empty or missing leaves what was there. A boolean
        is `1`, `t`, `true`, `0`, `f` or `false`; anything else is off, and the log has a warning, and so is an empty one that is
        the only argument of its option. For an option that is not on this page the response is 404.

        For example, 300 × 200 pixels of a photo as WebP, where signatures are not required:

            /_/rs:fill:300:200/g:sm/plain/https://example.com/photo.jpg@webp

        \(contents)

        """

    /// A link to each heading.
    private static var contents: String {
        (ImageOption.Group.allCases.map(\.rawValue) + ["Settings", "imgproxy's settings"]).map { title in
            let anchor = title.lowercased().filter { $0 != "'" }.replacing(" ", with: "-")
            return "[\(title)](#\(anchor))"
        }.joined(separator: " · ")
    }

    private static func section(of group: ImageOption.Group) -> String {
        let options = OptionTable.all.filter { $0.group == group }
        return (["## \(group.rawValue)", ""] + notes(on: group) + options.flatMap(lines)).joined(separator: "\n")
    }

    private static func notes(on group: ImageOption.Group) -> [String] {
        guard group == .limits else { return [] }
        return ["With `KF_ALLOW_SECURITY_OPTIONS` only; otherwise the response is 403.", ""]
    }

    private static func lines(of option: ImageOption) -> [String] {
        let usage = option.names[option.names.count > 1 ? 1 : 0] + option.arguments.map { ":\($0.name)" }.joined()
        let more = option.repeats ? "…" : ""
        return [
            "### \(option.names.joined(separator: ", "))", "", "`\(usage)\(more)` — \(option.help)", "",
            "Example: `\(option.example)`", "",
        ]
            + arguments(of: option) + [""]
    }

    /// One argument is a line, several are a table.
    private static func arguments(of option: ImageOption) -> [String] {
        if option.arguments.count == 1 {
            return option.arguments.map { argument in
                let initial = argument.initial.isEmpty ? "" : "; unless set `\(argument.initial)`"
                return "`\(argument.name)`: \(argument.words)\(initial)"
            }
        }
        let rows = option.arguments.map { argument in
            "| \(argument.name) | \(argument.words) | \(argument.initial.isEmpty ? "" : "`\(argument.initial)`") |"
        }
        return ["| argument | values | unless set |", "|---|---|---|"] + rows
    }

    private static var settings: String {
        let rows = SettingsTable.all.map { setting in
            let initial = setting.show(ServerConfiguration())
            let shown = initial.isEmpty ? "" : "`\(initial)`"
            return "| `\(setting.names[0])` | \(setting.help) | \(setting.words) | \(shown) |"
        }
        let head = """
            ## Settings

            Variables of the environment. Those that imgproxy has, too, may begin with `IMGPROXY_` in place of `KF_`:
            the table [below](#imgproxys-settings) lists these names, which count where ours are not set.

            | variable | meaning | values | unless set |
            |---|---|---|---|
            """
        return ([head] + rows + [""]).joined(separator: "\n")
    }

    private static var imgproxys: String {
        let head = """
            ## imgproxy's settings

            All settings of imgproxy 4: each is read as the setting of this server that is named beside it, ignored
            since there is nothing here that it could set, or refused. With one that is refused the server does not
            start, unless it has a value that means what is done anyway. Those that are ignored are named once when the
            server starts, unless they have imgproxy's default. As soon as one of these variables is set, imgproxy's
            defaults hold where they differ: \(differences).

            | variable | outcome, and what to do instead |
            |---|---|
            """
        return ([head] + imgproxyRows + [""]).joined(separator: "\n")
    }

    /// What is done in place of several settings is said of the first one.
    private static var imgproxyRows: [String] {
        var advice: String?
        return ImgproxySettings.all.map { name, outcome -> String in
            switch outcome {
            case .read(let own): return "| `\(name)` | `\(own)` |"
            case .meaningless: return "| `\(name)` | ignored |"
            case .refused(let harmless, let instead):
                let shown = instead == advice ? "as above" : instead
                advice = instead
                return "| `\(name)` | refused\(unless(harmless)): \(shown) |"
            }
        }
    }

    private static func unless(_ values: [String]) -> String {
        let shown = values.filter { !$0.isEmpty }.map { "`\($0)`" }
        return shown.isEmpty ? "" : ", unless " + shown.joined(separator: " or ")
    }

    private static var differences: String {
        ImgproxySettings.initial.sorted { $0.key < $1.key }.map { "`\($0.key)` is \($0.value)" }
            .joined(separator: ", ")
    }
}
