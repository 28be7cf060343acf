// One caller of the byte loader: what it wants, where it waits, and how it is cancelled. Decides nothing.

import Foundation
import KFSupport

/// One caller that waits for bytes, settled exactly once: what is kept first in its outcome counts.
final class BytesCaller: Sendable {
    /// A caller's place among those who wait for one transfer.
    struct Place: Sendable {
        /// Nil for a caller that was given bytes which had arrived.
        let ticket: SharedWork<TransferKey, BytesCaller>.Ticket?
        let transfer: Transfer
        let token: SessionDataTask.CancelToken

        /// The error of a caller that has left this place.
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

    /// The URL the caller asked for, before any modifier.
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

    var isSettled: Bool { outcome.valueIfKept != nil }

    /// Waits there from now on: its handle is linked to the transfer, which may not have been started yet.
    func take(_ place: Place) {
        handle.link(to: place.transfer.sessionTask, token: place.token)
        options.onTransferLinked?(place.transfer.sessionTask, place.token)
        options.requestModifier?.onDownloadTaskStarted?(handle)
    }

    /// The transport works on the transfer.
    func transferHasStarted() { options.onTransferStarted?() }
}
