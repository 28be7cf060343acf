// All options of URLs. The parser looks them up by name, the reference page lists them.

/// The one table of options.
package enum OptionTable {
    /// In the order of the reference page.
    package static let all = size + crop + look + output + metadata + delivery + limits

    /// By each of their names.
    static let byName: [String: ImageOption] = {
        var table: [String: ImageOption] = [:]
        for option in all {
            for name in option.names { table[name] = option }
        }
        return table
    }()
}
