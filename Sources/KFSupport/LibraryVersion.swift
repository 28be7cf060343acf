// The version of this package: for the user agent of requests and for `kf --version`.

/// The version of this package.
package enum LibraryVersion {
    /// Such as "1.2.3".
    package static let text = "0.1.0"
}
