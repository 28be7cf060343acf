// What is in results and errors that cannot be compared, for tests that expect one of their cases.

import Foundation

@testable import Kingfisher

extension RetrieveImageResult.Revalidation {
    var isNotModified: Bool { if case .notModified = self { true } else { false } }
    var isModified: Bool { if case .modified = self { true } else { false } }
    var isInBackground: Bool { if case .inBackground = self { true } else { false } }
    /// Why the server could not be asked.
    var failure: KingfisherError? { if case .failed(let error) = self { error } else { nil } }
}

extension KingfisherError {
    /// What a transport or a loader failed with.
    var cause: (any Error)? { if case .responseError(.URLSessionError(let error)) = self { error } else { nil } }
    var urlError: URLError? { cause as? URLError }
    /// A source and its alternatives, with the error of each.
    var exhausted: [PropagationError]? {
        if case .imageSettingError(.alternativeSourcesExhausted(let failures)) = self { failures } else { nil }
    }
}
