// How long a response is fresh: RFC 9111, section 4.2, for private and for shared caches. The caller passes the time.

public import Foundation

extension CacheMetadata {
    /// Whether the bytes may be used at `instant` without a request to the server.
    ///
    /// Only explicit freshness counts: without `max-age` or `Expires` a response is never fresh. If redirects led to
    /// it, they must be fresh, too: a permanent one (301, 308) that does not say how long counts as fresh, another one
    /// as not.
    /// - Parameters:
    ///   - instant: The time.
    ///   - isShared: Whether the cache is shared by several people: then `s-maxage` comes first.
    /// - Returns: Whether it is fresh.
    public func isFresh(at instant: Date, inShared isShared: Bool = false) -> Bool {
        chain.allSatisfy { $0.isItselfFresh(at: instant, CacheControl($0.cacheControl, isShared: isShared)) }
    }

    /// The same, without its redirects.
    private func isItselfFresh(at instant: Date, _ control: CacheControl) -> Bool {
        guard !control.noCache, !control.noStore, let lifetime = lifetime(control) else { return false }
        return currentAge(at: instant) < lifetime
    }

    /// Whether the server has declared that the bytes never change while they are fresh.
    public var isImmutable: Bool { chain.allSatisfy { CacheControl($0.cacheControl).isImmutable } }

    /// Whether the server forbids storing the bytes.
    public var forbidsStoring: Bool { forbidsStoring(inShared: false) }

    /// The same, for a cache of one client or of several, for which `private` counts, too.
    @_spi(Server) public func forbidsStoring(inShared isShared: Bool) -> Bool {
        chain.contains { CacheControl($0.cacheControl, isShared: isShared).noStore }
    }

    /// The seconds for which the response is fresh, from the time it was made; nil if the server has not stated them.
    ///
    /// Redirects that led to the response have times of their own, which do not count here.
    public var freshnessLifetime: TimeInterval? { lifetime(CacheControl(cacheControl)) }

    /// Until when the bytes may be used without a request to the server; the distant past if never, nil if the server
    /// does not say.
    func freshUntil(inShared isShared: Bool) -> Date? {
        chain.compactMap { $0.itselfFreshUntil(inShared: isShared) }.min()
    }

    /// The same for who takes a response that does not say how long it is fresh to be fresh for some seconds from its
    /// arrival: for as long again it may be used while its server is asked, and when that fails.
    ///
    /// It is for decisions only, and is not what the server said.
    func assuming(_ seconds: TimeInterval, inShared isShared: Bool) -> CacheMetadata {
        guard lifetime(CacheControl(cacheControl, isShared: isShared)) == nil else { return self }
        let number = Int(max(0, min(seconds, 2_147_483_648)))
        let assumed = "max-age=\(number), stale-while-revalidate=\(number), stale-if-error=2147483648"
        // Of a directive that there is twice the last one counts.
        let control = [assumed, cacheControl].compactMap(\.self).joined(separator: ", ")
        return CacheMetadata(cacheControl: control, storedAt: storedAt, makingTime: makingTime, redirects: redirects)
    }

    /// How many seconds before the end of its freshness something is made anew: by chance, the longer the making took.
    ///
    /// So of many that ask, one begins before the end, and mostly only one (XFetch: A. Vattani, F. Chierichetti and
    /// K. Lowenstein, "Optimal Probabilistic Cache Stampede Prevention").
    ///
    /// - Parameter chance: From 0 to 1, 0 excluded.
    /// - Returns: Seconds.
    func earlyBy(chance: Double) -> TimeInterval { max(0, makingTime ?? 0) * -log(max(chance, 1e-9)) }

    private func itselfFreshUntil(inShared isShared: Bool) -> Date? {
        let control = CacheControl(cacheControl, isShared: isShared)
        guard !control.noCache, !control.noStore else { return .distantPast }
        return lifetime(control).map { storedAt.addingTimeInterval($0 - currentAge(at: storedAt)) }
    }

    /// Whether bytes that are not fresh at `instant` may be used while the server is asked about them
    /// (`stale-while-revalidate`, RFC 5861).
    func mayBeUsedWhileRevalidating(at instant: Date, inShared isShared: Bool) -> Bool {
        mayBeUsed(at: instant, inShared: isShared) { $0.staleWhileRevalidate }
    }

    /// Whether bytes that are not fresh may be used when the server cannot be reached (RFC 9111, section 4.2.4).
    func mayBeUsedWithoutConnection(inShared isShared: Bool) -> Bool {
        chain.allSatisfy { response in
            let control = CacheControl(response.cacheControl, isShared: isShared)
            return !control.mustRevalidate && !control.noCache && !control.noStore
        }
    }

    /// Whether bytes that are not fresh at `instant` may be used when the server fails (`stale-if-error`, RFC 5861).
    func mayBeUsedAfterServerFailure(at instant: Date, inShared isShared: Bool) -> Bool {
        mayBeUsed(at: instant, inShared: isShared) { $0.staleIfError }
    }

    /// Whether bytes that are not fresh may be used, since every response of the chain is fresh, or may be used for so
    /// many more seconds.
    private func mayBeUsed(
        at instant: Date,
        inShared isShared: Bool,
        for seconds: (CacheControl) -> TimeInterval?
    ) -> Bool {
        !isFresh(at: instant, inShared: isShared)
            && chain.allSatisfy { response in
                let control = CacheControl(response.cacheControl, isShared: isShared)
                return response.isItselfFresh(at: instant, control)
                    || response.isStale(at: instant, for: seconds(control), control)
            }
    }

    /// Whether the bytes became stale less than the given seconds ago, and stale bytes may be used.
    private func isStale(at instant: Date, for seconds: TimeInterval?, _ control: CacheControl) -> Bool {
        guard let seconds, let lifetime = lifetime(control), !control.noCache, !control.noStore,
            !control.mustRevalidate
        else { return false }
        return currentAge(at: instant) - lifetime <= seconds
    }

    /// The seconds between the time the server made or confirmed the response and `instant`, as far as is known.
    public func currentAge(at instant: Date) -> TimeInterval {
        let apparent = date.map { storedAt.timeIntervalSince($0) } ?? 0
        let initial = max(0, apparent, age ?? 0)
        return initial + max(0, instant.timeIntervalSince(storedAt))
    }

    private func lifetime(_ control: CacheControl) -> TimeInterval? {
        if let maxAge = control.maxAge { return maxAge }
        return expires.map { max(0, $0.timeIntervalSince(date ?? storedAt)) }
    }
}
