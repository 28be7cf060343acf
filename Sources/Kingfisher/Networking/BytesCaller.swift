// One caller of the byte loader: what it wants, which transfer it waits for, and how it is cancelled. Decides nothing.

import Foundation
import KFSupport

/// One caller that waits for bytes, settled exactly once: the first value of its outcome counts.
final class BytesCaller: Sendable {
    /// A caller's registration with one transfer.
    struct Registration: Sendable {
        /// Nil for a caller that was given bytes which had arrived.
        let ticket: SharedWork<TransferKey, BytesCaller>.Ticket?
        let transfer: Transfer
        let token: SessionDataTask.CancelToken

        /// The error of a caller that was cancelled while registered with this transfer.
        var cancellation: KingfisherError {
            .requestError(reason: .taskCancelled(task: transfer.sessionTask, token: token))
        }
    }

    /// What a caller is handed: the bytes, and what its processor made of them, if that was done already.
    struct Delivery: Sendable {
        let bytes: LoadedBytes
        var made: Result<KFCrossPlatformImage, KingfisherError>?

        /// The image the options' processor makes of the bytes.
        func image(_ options: KingfisherParsedOptionsInfo) async throws(KingfisherError) -> KFCrossPlatformImage {
            if let made { return try made.get() }
            return try await bytes.image(options).get()
        }
    }

    /// The URL the caller requested, before any modifier.
    let url: URL
    let options: KingfisherParsedOptionsInfo
    let handle: DownloadTask
    /// Whether an image is to be made of the bytes, as the options say.
    let wantsImage: Bool
    /// It may be given bytes that arrived after this, and that others still work with; nil if it may not.
    let sharesArrivalsSince: ContinuousClock.Instant?
    let outcome = Promise<Result<Delivery, KingfisherError>>()

    init(
        _ url: URL,
        _ options: KingfisherParsedOptionsInfo,
        _ handle: DownloadTask,
        wantsImage: Bool,
        sharesArrivalsSince: ContinuousClock.Instant?
    ) {
        self.url = url
        self.options = options
        self.handle = handle
        self.wantsImage = wantsImage
        self.sharesArrivalsSince = sharesArrivalsSince
    }

    var isSettled: Bool { outcome.valueIfFulfilled != nil }

    /// Links the caller's handle to the transfer it waits for, which may not have been started yet.
    func take(_ registration: Registration) {
        handle.link(to: registration.transfer.sessionTask, token: registration.token)
        options.onTransferLinked?(registration.transfer.sessionTask, registration.token)
        options.requestModifier?.onDownloadTaskStarted?(handle)
    }

    /// To be called when the transport works on the transfer.
    func transferHasStarted() { options.onTransferStarted?() }
}
