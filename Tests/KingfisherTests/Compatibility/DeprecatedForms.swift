// The manager's forms from before version 5, called through a protocol so that their deprecation gives no warning.

import Foundation
import Kingfisher

protocol DeprecatedForms {
    @discardableResult
    func retrieveImage(
        with resource: any Resource,
        options: KingfisherOptionsInfo?,
        progressBlock: DownloadProgressBlock?,
        completionHandler: CompletionHandler?
    ) -> RetrieveImageTask
}

extension KingfisherManager: DeprecatedForms {}

extension KingfisherManager {
    /// The manager, with its forms from before version 5.
    var deprecatedForms: any DeprecatedForms { self }
}
