// Values that are associated with objects. Knows nothing of what either is.

import KFSupport

/// Keeps a value with an object, under a key, until the object is gone or another value replaces it.
///
/// May be called from any thread. The value is released some time after the object is: when some more values have been
/// kept.
///
/// - Parameters:
///   - object: The object, which is not kept alive.
///   - key: An address that stands for the kind of value; what is there is not looked at.
///   - value: The value.
func setRetainedAssociatedObject<Value: Sendable>(_ object: AnyObject, _ key: UnsafeRawPointer, _ value: Value) {
    AssociatedObjects.shared.set(value, of: object, key: UInt(bitPattern: key))
}

/// The value that is kept with an object under a key; nil if there is none, or one of another type.
func getAssociatedObject<Value: Sendable>(_ object: AnyObject, _ key: UnsafeRawPointer) -> Value? {
    AssociatedObjects.shared.value(of: object, key: UInt(bitPattern: key)) as? Value
}

/// The values of all objects that have some.
private final class AssociatedObjects: Sendable {
    static let shared = AssociatedObjects()

    /// The values of one object.
    private struct Values: Sendable {
        // SAFETY: it is only compared, never called, and a weak reference may be read from any thread.
        nonisolated(unsafe) weak var object: AnyObject?
        var byKey: [UInt: any Sendable] = [:]
    }
    /// A strong reference to an object, so that it is not released meanwhile.
    private struct Held: Sendable {
        // SAFETY: it is only compared and released, which any thread may do.
        nonisolated(unsafe) let object: AnyObject?
    }
    private struct State: Sendable {
        var values: [ObjectIdentifier: Values] = [:]
        /// How many values may still be added before the values of released objects are removed.
        var untilSweep = 16
    }
    private let state = Locked(State())

    func value(of object: AnyObject, key: UInt) -> (any Sendable)? {
        let identifier = ObjectIdentifier(object)
        return state.withLock { state in
            // The address may have been that of another object before.
            guard let values = state.values[identifier], values.object != nil else { return nil }
            return values.byKey[key]
        }
    }

    func set(_ value: any Sendable, of object: AnyObject, key: UInt) {
        let new = Values(object: object, byKey: [key: value])
        let identifier = ObjectIdentifier(object)
        // Values are released outside the lock: their `deinit` may call back.
        _ = state.withLock { state -> [any Sendable] in
            var gone: [any Sendable] = []
            if let values = state.values[identifier], values.object != nil {
                if let old = state.values[identifier]?.byKey.updateValue(value, forKey: key) { gone.append(old) }
            } else if let old = state.values.updateValue(new, forKey: identifier) {
                gone.append(old)
            }
            state.untilSweep -= 1
            guard state.untilSweep <= 0 else { return gone }
            let held = state.values.mapValues { Held(object: $0.object) }
            gone += held.values.map { $0 }
            gone += state.values.values.filter { $0.object == nil }
            state.values = state.values.filter { held[$0.key]?.object != nil }
            state.untilSweep = max(16, state.values.count)
            return gone
        }
    }
}
