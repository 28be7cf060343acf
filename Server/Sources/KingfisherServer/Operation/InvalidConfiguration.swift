// Why a server cannot be made. For all that reads a configuration, and for applications.

/// Variables of the environment that are wrong.
public struct InvalidConfiguration: Error, CustomStringConvertible {
    /// A sentence for each, which begins with the name of the variable; without the values of secrets.
    public let complaints: [String]

    /// All of them, a line each.
    public var description: String { complaints.joined(separator: "\n") }
}
