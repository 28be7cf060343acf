// The version of this package, for what names itself to others.

/// The version of this package.
package enum LibraryVersion {
    /// Such as "1.2.3".
    package static let text = "0.1.0"
}
