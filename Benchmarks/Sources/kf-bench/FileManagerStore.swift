// The baseline of the file store: FileManager, Data and URL, as stores are written for Apple's systems.

import CBaselineCrypto
import Foundation

/// Entries in files named by the SHA-256 of their key, which expire at their modification time.
struct FileManagerStore {
    let folder: URL
    private let queue = DispatchQueue(label: "kf-bench.times")

    init(folder: URL) { self.folder = folder }

    private func url(forKey key: String) -> URL {
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_Digest(key, key.utf8.count, &digest, nil, EVP_sha256(), nil)
        let name = digest.map { String(format: "%02x", $0) }.joined()
        return folder.appendingPathComponent(name)
    }

    func store(_ data: Data, forKey key: String) throws {
        let url = url(forKey: key)
        try data.write(to: url, options: .atomic)
        let now = Date()
        let dates: [FileAttributeKey: Any] = [
            .creationDate: now, .modificationDate: now.addingTimeInterval(7 * 86_400),
        ]
        try FileManager.default.setAttributes(dates, ofItemAtPath: url.path)
    }

    func value(forKey key: String) throws -> Data? {
        let url = url(forKey: key)
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let values = try url.resourceValues(forKeys: [.contentModificationDateKey, .creationDateKey])
        guard let expiry = values.contentModificationDate, expiry > Date() else { return nil }
        let data = try Data(contentsOf: url)
        // No caller waits for the extension of the expiry.
        queue.async {
            let dates: [FileAttributeKey: Any] = [
                .creationDate: Date(), .modificationDate: Date().addingTimeInterval(7 * 86_400),
            ]
            try? FileManager.default.setAttributes(dates, ofItemAtPath: url.path)
        }
        return data
    }

    /// Waits until all expiries that were extended have been written.
    func settle() { queue.sync {} }
}
