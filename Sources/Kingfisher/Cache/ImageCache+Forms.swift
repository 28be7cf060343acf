// `ImageCache`'s functions that cannot be overridden: where an image is, and how functions with completion handlers and
// async functions share one implementation.

import Foundation
import KFSupport

extension ImageCacheResult {
    init(_ result: CacheCore.LookupResult) {
        switch result {
        case .found(let cached): self = cached.cacheType == .memory ? .memory(cached.image) : .disk(cached.image)
        case .nothing, .superseded: self = .none
        }
    }
}

extension ImageCache {
    /// Whether an image is cached at all.
    ///
    /// Looks at the disk on the caller's thread.
    public func isCached(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> Bool {
        imageCachedType(forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension).cached
    }

    /// Where an image is.
    ///
    /// A hit in memory is reported before this returns if the queue allows; the disk is looked at elsewhere.
    public func imageCachedTypeAsync(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil,
        callbackQueue: CallbackQueue = .default,
        completionHandler: @escaping @Sendable (CacheType) -> Void
    ) {
        report(to: completionHandler, on: callbackQueue) { [self] in
            await imageCachedTypeAsync(forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension)
        }
    }

    /// Where an image is.
    public func imageCachedTypeAsync(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) async -> CacheType {
        guard !isSubclassed else {
            return await WorkExecutor.io.run { [self] in
                imageCachedType(forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension)
            }
        }
        return await core.cachedType(key.computedKey(with: identifier), forcedExtension)
    }

    // MARK: Two forms

    /// Starts `work` now, on this thread, and hands its result to `handler` through `queue`.
    ///
    /// That is inside this call if `work` did not have to leave the thread, and otherwise once this has returned.
    func report<Value: Sendable>(
        to handler: (@Sendable (Value) -> Void)?,
        on queue: CallbackQueue,
        _ work: @escaping @Sendable () async -> Value
    ) {
        let call = CallEnd()
        _ = Task.immediate {
            let value = await work()
            guard let handler else { return }
            if !call.isOnThread { await call.wait() }
            queue.execute { handler(value) }
        }
        call.arrive()
    }

    /// Starts `work` now, on this thread, and calls `handler` through `queue` when it is done.
    func finish(
        with handler: (@Sendable () -> Void)?,
        on queue: CallbackQueue,
        _ work: @escaping @Sendable () async -> Void
    ) {
        report(to: handler.map { handler in { @Sendable (_: Void) in handler() } }, on: queue, work)
    }

    /// The value that a call passes to its handler; only the first one counts.
    func awaited<Value: Sendable>(_ call: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
        let result = Promise<Value>()
        call { result.fulfil($0) }
        return await result.value
    }

    /// Waits for a call that passes nothing to its handler.
    func completed(_ call: (@escaping @Sendable () -> Void) -> Void) async {
        await awaited { done in call { done(()) } }
    }

    /// The options that the forms without options stand for.
    static func options(
        _ identifier: String,
        _ forcedExtension: String?,
        _ serializer: any CacheSerializer,
        _ callbackQueue: CallbackQueue = .untouch
    ) -> KingfisherParsedOptionsInfo {
        var options = KingfisherParsedOptionsInfo()
        options.processor = NamedProcessor(identifier: identifier)
        options.forcedExtension = forcedExtension
        options.cacheSerializer = serializer
        options.callbackQueue = callbackQueue
        return options
    }
}

/// Stands for the processor that made an image, of which only the identifier is known.
private struct NamedProcessor: ImageProcessor {
    let identifier: String

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)
    }
}
