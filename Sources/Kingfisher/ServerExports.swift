// How text that others wrote becomes a URL, and the version of the library: for programs outside the package's own
// modules, such as the image server.

public import Foundation
import KFSupport

/// A URL of text that may have characters that must be escaped; nil if the text is no URL.
///
/// Escapes (`%20`) stay as they are, and every other byte that has no place in a URL is escaped as it is.
@_spi(Server) public func lenientURL(_ text: some Collection<UInt8>) -> URL? { URL(escaping: text) }

/// The version of the library, such as "1.2.3", for those outside the package's own modules.
@_spi(Server) public func versionOfLibrary() -> String { LibraryVersion.text }
