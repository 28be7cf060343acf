// An entry as it lies in a shared tier: its name, its bytes, and what is needed to know that they are these. For
// TierAccess.

import Foundation
import KFImaging
import KFStorage
import KFSupport

/// What a machine put into a tier for others.
///
/// Layout, in the envelope, numbers in little endian: generation (8 bytes), when it was made and when it expires (8
/// each, seconds since 1970; infinite is never), and then four fields, each behind its length (8): key, media type,
/// cache metadata, bytes.
struct TierValue: Sendable, Equatable {
    /// The bytes of the entry.
    let bytes: Data
    /// What the response of the source said about caching: validators and freshness.
    let metadata: CacheMetadata?
    /// When it was made, by the clock of the machine that did.
    let madeAt: Date
    /// When its entry expires, by that clock; `distantFuture` is never.
    let expires: Date
    /// Up to which purge its source was loaded.
    let generation: UInt64

    private static let version: UInt8 = 1

    init(
        bytes: Data,
        metadata: CacheMetadata? = nil,
        madeAt: Date = Date(),
        expires: Date = .distantFuture,
        generation: UInt64 = 0
    ) {
        (self.bytes, self.metadata, self.madeAt) = (bytes, metadata, madeAt)
        (self.expires, self.generation) = (expires, generation)
    }

    /// What is put into the tier.
    func encoded(for key: TierKey) -> Data {
        let type = ImageContentType(sniffing: bytes)?.mimeType ?? ""
        var content = Data()
        content.reserveCapacity(bytes.count + 256)
        content.append(number: generation)
        content.append(number: madeAt.timeIntervalSince1970.bitPattern)
        content.append(number: (expires == .distantFuture ? .infinity : expires.timeIntervalSince1970).bitPattern)
        for field in [Data(key.name.utf8), Data(type.utf8), Data(metadata?.encoded() ?? []), bytes] {
            content.append(field: field)
        }
        return content.sealed(version: Self.version)
    }

    /// Reads what ``encoded(for:)`` returned; nil for anything else: another layout or key, and damaged bytes.
    init?(encoded: Data, for key: TierKey) {
        guard var rest = encoded.unsealed(version: Self.version),
            let generation = rest.popNumber(), let madeAt = rest.popNumber(), let expires = rest.popNumber(),
            let name = rest.popField(), name.elementsEqual(key.name.utf8), let type = rest.popField(),
            let metadata = rest.popField(), let bytes = rest.popField(), rest.isEmpty,
            type.elementsEqual((ImageContentType(sniffing: bytes)?.mimeType ?? "").utf8)
        else { return nil }
        let (made, end) = (TimeInterval(bitPattern: madeAt), TimeInterval(bitPattern: expires))
        guard made.isFinite, !end.isNaN else { return nil }
        if !metadata.isEmpty {
            guard var metadata = CacheMetadata(encoded: Array(metadata)) else { return nil }
            // The other machine's clock may be ahead: it would be fresh for too long.
            metadata.storedAt = min(metadata.storedAt, Date())
            self.metadata = metadata
        } else {
            self.metadata = nil
        }
        self.bytes = bytes
        self.madeAt = Date(timeIntervalSince1970: made)
        self.expires = end == .infinity ? .distantFuture : Date(timeIntervalSince1970: end)
        self.generation = generation
    }
}

/// The key of an entry in a tier: the same on every machine, and without anything that could be read.
struct TierKey: Hashable, Sendable {
    /// Letters, digits and a hyphen.
    let name: String

    /// The key of an entry of the disk cache.
    ///
    /// Changes with the layout of values, so that programs with different ones do not meet.
    init(forKey computedKey: String, _ forcedExtension: String?) {
        name = "kf1-" + FileNaming.hash("\(computedKey.utf8.count):\(computedKey)\(forcedExtension ?? "")")
    }

    /// A key of another value than an entry.
    init(name: String) { self.name = name }

    /// What the lease for making it is called.
    var lease: String { name + Self.leaseSuffix }

    /// What the names of leases end with.
    static let leaseSuffix = "-lease"
}
