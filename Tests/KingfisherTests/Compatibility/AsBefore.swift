// How the manager was asked before version 5, for tests: what is deprecated can be called without a warning by a protocol.

import Foundation
import Kingfisher

protocol AskedAsBefore {
    @discardableResult
    func retrieveImage(
        with resource: any Resource,
        options: KingfisherOptionsInfo?,
        progressBlock: DownloadProgressBlock?,
        completionHandler: CompletionHandler?
    ) -> RetrieveImageTask
}

extension KingfisherManager: AskedAsBefore {}

extension KingfisherManager {
    /// The manager, to be asked as before version 5.
    var asBefore: any AskedAsBefore { self }
}
