// Adds up the progress of the files of a live photo. For the manager's live-photo loads.

import KFSupport

/// The progress of downloads side by side, as the progress of one download.
final class LivePhotoProgress: Sendable {
    private let relay: ProgressRelay
    /// How many files are downloaded; others are read.
    private let count: Int
    private let files = Locked<[Int: (received: Int64, expected: Int64)]>([:])

    init(of resources: some Collection<LivePhotoResource>, _ relay: ProgressRelay) {
        self.relay = relay
        count = resources.count { if case .network = $0.dataSource { true } else { false } }
    }

    /// Who follows the download of one file.
    func observer(ofFile file: Int) -> any LoadObserver { FileObserver(progress: self, file: file) }

    private final class FileObserver: LoadObserver {
        private let progress: LivePhotoProgress
        private let file: Int

        init(progress: LivePhotoProgress, file: Int) { (self.progress, self.file) = (progress, file) }

        func didReceive(_ piece: ReceivedPiece) {
            progress.report(received: piece.received, expected: piece.expected, of: file)
        }

        func didProgress(_ received: Int64, of expected: Int64) {
            progress.report(received: received, expected: expected, of: file)
        }
    }

    /// More of a file has arrived; reported once the lengths of all files are known.
    private func report(received: Int64, expected: Int64, of file: Int) {
        guard expected >= 0 else { return }
        files.withLock { files in
            files[file] = (received, expected)
            guard files.count == count else { return }
            let (received, expected) = files.values.reduce((0, 0)) { ($0.0 + $1.received, $0.1 + $1.expected) }
            // Under the lock, so that sums are reported in order; the relay calls the handler later, elsewhere.
            relay.report(received: received, expected: expected)
        }
    }
}
