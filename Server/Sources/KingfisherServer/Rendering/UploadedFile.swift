// An image that came as the body of a request. For the routes, which read it, and the renderer.

package import Foundation

/// An upload: it has its bytes once these have come.
package struct UploadedFile: Hashable, Sendable {
    /// By which it differs from all others, whatever its bytes are.
    package let identifier = UUID()
    /// Its bytes.
    package var data = Data()

    package init() {}

    package static func == (one: Self, other: Self) -> Bool { one.identifier == other.identifier }

    package func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}
