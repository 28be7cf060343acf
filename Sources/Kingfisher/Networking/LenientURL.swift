// How text that others wrote becomes a URL, for those outside the package's own modules: server and desktop program.

public import Foundation
import KFSupport

/// A URL of text that may have characters that must be escaped; nil if the text is no URL.
///
/// Escapes (`%20`) stay as they are, and every other byte that has no place in a URL is escaped as it is.
@_spi(Server) public func lenientURL(_ text: some Collection<UInt8>) -> URL? { URL(escaping: text) }
