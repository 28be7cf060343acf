// The variables of the environment. For proxies and certificates, whose variables other programs read, too.

import Glibc

/// Variables of the environment that say something; an empty one says nothing.
enum Environment {
    static subscript(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
