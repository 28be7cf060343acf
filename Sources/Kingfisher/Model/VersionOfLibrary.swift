// The library's version, for programs outside the package: the image server says it.

import KFSupport

/// The version of the library, such as "1.2.3", for those outside the package's own modules.
@_spi(Server) public func versionOfLibrary() -> String { LibraryVersion.text }
