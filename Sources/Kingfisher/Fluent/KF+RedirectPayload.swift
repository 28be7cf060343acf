// What the block of `redirectHandler(_:)` is given, for programs that decide on redirects.

public import FoundationNetworking

extension KF {
    /// A redirect to be decided on, see `KFOptionSetter.redirectHandler(_:)`.
    public struct RedirectPayload: Sendable {
        /// The transfer.
        public let task: SessionDataTask
        /// The 3xx response.
        public let response: HTTPURLResponse
        /// The request that would be sent, without credentials when it leads to another origin.
        public let newRequest: URLRequest
        /// To be called with the request to follow, changed or not; nil takes the redirect itself as the response.
        ///
        /// The first call counts, from any thread; without any the download ends in its timeout.
        public let completionHandler: @Sendable (URLRequest?) -> Void
    }
}
