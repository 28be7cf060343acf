// One caller of the byte loader: what it wants, where it waits, and how it is cancelled. Decides nothing.

import Foundation
import KFSupport

/// One caller that waits for bytes, settled exactly once: what is kept first in its outcome counts.
final class BytesCaller: Sendable {
    /// A caller's place among those who wait for one transfer.
    struct Place: Sendable {
        let ticket: SharedWork<TransferKey, BytesCaller>.Ticket
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
    /// Whether it may be given bytes that have arrived a moment before, and that others still work with.
    let sharesLate: Bool
    let outcome = Promise<Result<Delivery, KingfisherError>>()
    private let seat = Locked<Place?>(nil)

    init(
        _ url: URL,
        _ options: KingfisherParsedOptionsInfo,
        _ handle: DownloadTask,
        wantsImage: Bool,
        sharesLate: Bool
    ) {
        self.url = url
        self.options = options
        self.handle = handle
        self.wantsImage = wantsImage
        self.sharesLate = sharesLate
    }

    var isSettled: Bool { outcome.valueIfKept != nil }

    /// Where it waits; nil until it does.
    var place: Place? { seat.withLock { $0 } }

    /// Waits there from now on: its handle is linked to the transfer, which may not have been started yet.
    func take(_ place: Place) {
        seat.withLock { $0 = place }
        handle.link(to: place.transfer.sessionTask, token: place.token)
        options.onTransferLinked?(place.transfer.sessionTask, place.token)
        options.requestModifier?.onDownloadTaskStarted?(handle)
    }

    /// The transport works on the transfer.
    func transferHasStarted() { options.onTransferStarted?() }
}
