// How a layer adds an option of its own: a key, and a property of the options that reads and writes under it.

/// The key of an option that is declared by the layer it is for; the option has no value until it is set.
///
/// ```swift
/// extension KingfisherParsedOptionsInfo {
///     private enum Downloader: OptionKey { typealias Value = ImageDownloader }
///
///     public var downloader: ImageDownloader? {
///         get { self[Downloader.self] }
///         set { self[Downloader.self] = newValue }
///     }
/// }
/// ```
///
/// Options that most loads read, and whose values any layer knows, are stored properties of the options instead.
protocol OptionKey {
    /// The type of the option.
    associatedtype Value: Sendable
}

/// The values of the keys that are set.
///
/// A load sets few, so they are searched one by one; a copy is one reference.
struct KeyedOptions: Sendable {
    private struct Entry: Sendable {
        let key: ObjectIdentifier
        let box: any AnyObject & Sendable
    }

    private final class Box<Value: Sendable>: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private var entries: [Entry] = []

    /// The value of a key, nil if it is not set.
    subscript<Key: OptionKey>(key: Key.Type) -> Key.Value? {
        get {
            // Not a loop over the elements, which would retain each of them.
            for index in entries.indices where entries[index].key == ObjectIdentifier(key) {
                // SAFETY: the setter is the only one that makes entries, and gives one of this key a box of its type.
                return unsafeDowncast(entries[index].box, to: Box<Key.Value>.self).value
            }
            return nil
        }
        set {
            entries.removeAll { $0.key == ObjectIdentifier(key) }
            if let newValue { entries.append(Entry(key: ObjectIdentifier(key), box: Box(newValue))) }
        }
    }
}
