// The page in the documentation is the one that is made from the tables.

import Foundation
import KFImageURLs
import Testing

@Suite struct ReferencePageTests {
    @Test("docs/server-options.md is up to date; `make server-reference` writes it")
    func upToDate() throws {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(contentsOf: root.appending(path: "docs/server-options.md"), encoding: .utf8)
        #expect(page == ReferencePage.markdown)
    }

    @Test("Every option, argument and setting is on the page")
    func complete() {
        let page = ReferencePage.markdown
        for option in OptionTable.all {
            #expect(page.contains("### \(option.names.joined(separator: ", "))\n"))
            #expect(page.contains(option.help))
            for argument in option.arguments {
                let (row, line) = ("| \(argument.name) | \(argument.words) |", "`\(argument.name)`: \(argument.words)")
                #expect(page.contains(row) || page.contains(line), "\(option.names[0]): \(argument.name)")
            }
        }
        for name in SettingsTable.all.flatMap(\.names) { #expect(page.contains("`\(name)`")) }
    }

    @Test("Each option's example is one of its names with arguments that URLs may have", arguments: OptionTable.all)
    func examples(option: ImageOption) throws {
        let allowed = settings { ($0.presets, $0.allowsSecurityOptions) = (["card": ["w:1"]], true) }
        #expect(option.names.contains(String(option.example.prefix { $0 != ":" })))
        _ = try plan(option.example, settings: allowed)
        #expect(ReferencePage.markdown.contains("Example: `\(option.example)`"))
    }
}
