// The binary form of cache metadata, small enough to be stored beside an entry of the disk cache.

import Foundation

extension CacheMetadata {
    /// The largest number of bytes that ``encoded()`` returns.
    package static let longestEncoding = 1_500
    private static let version: UInt8 = 1
    /// Redirects that take more bytes become one that says `no-cache`.
    private static let longestRedirects = 700

    /// The fields, the most important first: times are short, what the response depends on and how long it may be used
    /// must not be missing, validators save bytes.
    private enum Field: UInt8, CaseIterable {
        case storedAt = 1, date, age
        case vary = 9, variant, redirects
        case cacheControl = 6, expires
        case eTag = 4, lastModified
        case url = 8
        case makingTime = 12
        case generation = 13
    }

    /// Version (1 byte), then fields of kind (1), length (2, little endian) and value; times are seconds since 1970.
    ///
    /// A value that does not fit is left out, never cut. Without the `Cache-Control` that there was, `Expires` could
    /// mean another freshness, so it is left out with it.
    package func encoded() -> [UInt8] {
        var bytes = [Self.version]
        var kept: Set<Field> = []
        for field in Field.allCases {
            guard let value = value(of: field), bytes.count + 3 + value.count <= Self.longestEncoding else { continue }
            if field == .expires, cacheControl != nil, !kept.contains(.cacheControl) { continue }
            bytes += [field.rawValue, UInt8(value.count & 255), UInt8(value.count >> 8)]
            bytes += value
            kept.insert(field)
        }
        return bytes
    }

    private func value(of field: Field) -> [UInt8]? {
        func bytes(_ seconds: TimeInterval?) -> [UInt8]? {
            seconds.map { seconds in withUnsafeBytes(of: seconds.bitPattern.littleEndian) { Array($0) } }
        }
        switch field {
        case .storedAt: return bytes(storedAt.timeIntervalSince1970)
        case .date: return bytes(date?.timeIntervalSince1970)
        case .age: return bytes(age)
        case .expires: return bytes(expires?.timeIntervalSince1970)
        case .makingTime: return bytes(makingTime)
        case .generation: return generation == 0 ? nil : Self.bytes(of: generation)
        case .vary: return vary.map { Array($0.utf8) }
        case .variant: return variant.map { Array($0.utf8) }
        case .eTag: return eTag.map { Array($0.utf8) }
        case .lastModified: return lastModified.map { Array($0.utf8) }
        // A value that is too long must not become a response that says nothing.
        case .cacheControl: return cacheControl.map { Array(($0.utf8.count <= 500 ? $0 : "no-cache").utf8) }
        case .url: return url.map { Array($0.absoluteString.utf8) }
        case .redirects: return redirects.isEmpty ? nil : encodedRedirects
        }
    }

    /// The encodings of the redirects, each behind its length in two bytes, little endian.
    private var encodedRedirects: [UInt8] {
        let all = Self.joined(redirects)
        guard all.count > Self.longestRedirects else { return all }
        return Self.joined([CacheMetadata(cacheControl: "no-cache", storedAt: storedAt)])
    }

    private static func joined(_ redirects: [CacheMetadata]) -> [UInt8] {
        redirects.flatMap { redirect in
            let bytes = redirect.encoded()
            let length: [UInt8] = [UInt8(bytes.count & 255), UInt8(bytes.count >> 8)]
            return length + bytes
        }
    }

    /// Reads the value of the field; nil for a damaged value.
    private static func redirects(_ bytes: ArraySlice<UInt8>) -> [CacheMetadata]? {
        var redirects: [CacheMetadata] = []
        var rest = bytes
        while let low = rest.popFirst() {
            guard let high = rest.popFirst() else { return nil }
            let count = Int(low) | Int(high) << 8
            guard rest.count >= count, let redirect = CacheMetadata(encoded: Array(rest.prefix(count))) else {
                return nil
            }
            redirects.append(redirect)
            rest = rest.dropFirst(count)
        }
        return redirects
    }

    private static let stampVersion: UInt8 = 2

    /// What is kept with an entry: its metadata, and at which generation it was loaded; nil if there is nothing to
    /// keep.
    static func stamped(_ metadata: CacheMetadata?, _ generation: UInt64) -> [UInt8]? {
        guard generation > 0 else { return metadata?.encoded() }
        guard var metadata else { return [stampVersion] + bytes(of: generation) }
        metadata.generation = generation
        return metadata.encoded()
    }

    /// At which generation an entry was loaded with which that is kept.
    static func generation(ofStamped bytes: [UInt8]?) -> UInt64 {
        guard let bytes, bytes.first == stampVersion else {
            return bytes.flatMap { CacheMetadata(encoded: $0) }?.generation ?? 0
        }
        return number(bytes.dropFirst()) ?? 0
    }

    /// Reads the bytes that ``encoded()`` returned; nil for other bytes, and for damaged ones.
    ///
    /// Fields of unknown kinds are skipped: a later version may write more.
    package init?(encoded bytes: [UInt8]) {
        guard bytes.first == Self.version, bytes.count <= Self.longestEncoding else { return nil }
        var values: [Field: ArraySlice<UInt8>] = [:]
        var rest = bytes.dropFirst()
        while !rest.isEmpty {
            guard rest.count >= 3 else { return nil }
            let head = Array(rest.prefix(3))
            let count = Int(head[1]) | Int(head[2]) << 8
            rest = rest.dropFirst(3)
            guard rest.count >= count else { return nil }
            if let field = Field(rawValue: head[0]) { values[field] = rest.prefix(count) }
            rest = rest.dropFirst(count)
        }
        var isWhole = true
        func read<Value>(_ field: Field, _ read: (ArraySlice<UInt8>) -> Value?) -> Value? {
            guard let bytes = values[field] else { return nil }
            let value = read(bytes)
            isWhole = isWhole && value != nil
            return value
        }
        func seconds(_ field: Field) -> TimeInterval? { read(field) { Self.seconds($0) } }
        func text(_ field: Field) -> String? {
            read(field) { String(validating: $0, as: UTF8.self).flatMap { Self.clean($0) } }
        }
        guard let storedAt = seconds(.storedAt) else { return nil }
        self.init(
            eTag: text(.eTag),
            lastModified: text(.lastModified),
            cacheControl: text(.cacheControl),
            expires: seconds(.expires).map { Date(timeIntervalSince1970: $0) },
            date: seconds(.date).map { Date(timeIntervalSince1970: $0) },
            age: seconds(.age),
            vary: text(.vary),
            variant: text(.variant),
            url: text(.url).flatMap { URL(string: $0) },
            storedAt: Date(timeIntervalSince1970: storedAt),
            makingTime: seconds(.makingTime),
            redirects: read(.redirects) { Self.redirects($0) } ?? []
        )
        generation = read(.generation) { Self.number($0) } ?? 0
        guard isWhole else { return nil }
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64? {
        bytes.count == 8 ? bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } : nil
    }

    private static func seconds(_ bytes: ArraySlice<UInt8>) -> TimeInterval? {
        guard let bits = number(bytes) else { return nil }
        let seconds = TimeInterval(bitPattern: bits)
        return seconds.isFinite && abs(seconds) < 1e12 ? seconds : nil
    }
}
