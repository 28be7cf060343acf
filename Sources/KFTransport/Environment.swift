// The variables of the environment. For proxies and certificates, whose variables other programs read, too; and
// KingfisherTiers.

import Glibc

/// Variables of the environment that say something; an empty one says nothing.
package enum Environment {
    package static subscript(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
