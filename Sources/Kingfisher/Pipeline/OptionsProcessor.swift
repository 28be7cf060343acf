// Changes the options of loads as they begin. For users, who give one to the manager.

/// Changes the options of every load of a manager. (Not in Kingfisher.)
///
/// See ``KingfisherManager/optionsProcessor``.
public protocol OptionsProcessor: Sendable {
    /// The options that a load goes on with.
    ///
    /// Called once a load, on the thread that begins it and before anything is looked up. A view's load begins on the
    /// main actor, so return soon. A completion handler of the main actor is called there whatever the callback queue.
    /// - Parameters:
    ///   - options: The manager's settings, its default options over them, the call's options over those.
    ///   - source: What was asked for; alternative sources are loaded with the same options.
    /// - Returns: The options to use; return them unchanged for a load that is not meant.
    func processed(_ options: KingfisherParsedOptionsInfo, for source: Source) -> KingfisherParsedOptionsInfo
}

/// An options processor made from a closure. (Not in Kingfisher.)
public struct AnyOptionsProcessor: OptionsProcessor {
    private let process: @Sendable (KingfisherParsedOptionsInfo, Source) -> KingfisherParsedOptionsInfo

    /// Creates a processor.
    /// - Parameter process: Gives the options to use.
    public init(
        _ process: @escaping @Sendable (KingfisherParsedOptionsInfo, Source) -> KingfisherParsedOptionsInfo
    ) { self.process = process }

    /// The closure's result.
    public func processed(
        _ options: KingfisherParsedOptionsInfo,
        for source: Source
    ) -> KingfisherParsedOptionsInfo { process(options, source) }
}
