// What a file store is compared with: FileManager, Data and URL, as it is written for Apple's systems.

import Crypto
import Foundation

/// Reads entries out of files named by the SHA-256 of their key, which expire at their modification time.
struct FileManagerStore {
    let folder: URL
    private let queue = DispatchQueue(label: "kf-bench.times")

    init(folder: URL) { self.folder = folder }

    func value(forKey key: String) throws -> Data? {
        let name = SHA256.hash(data: Data(key.utf8)).map { String(format: "%02x", $0) }.joined()
        let url = folder.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let values = try url.resourceValues(forKeys: [.contentModificationDateKey, .creationDateKey])
        guard let expiry = values.contentModificationDate, expiry > Date() else { return nil }
        let data = try Data(contentsOf: url)
        // Prolonging need not be waited for.
        queue.async {
            let dates: [FileAttributeKey: Any] = [
                .creationDate: Date(), .modificationDate: Date().addingTimeInterval(7 * 86_400),
            ]
            try? FileManager.default.setAttributes(dates, ofItemAtPath: url.path)
        }
        return data
    }

    /// Waits for the prolonging that has not been waited for.
    func settle() { queue.sync {} }
}
