// The options of downloads: by which downloader, and what is changed on the way.

public import Foundation

extension KingfisherParsedOptionsInfo {
    private enum DownloaderKey: OptionKey { typealias Value = ImageDownloader }

    /// The downloader; nil means the manager's.
    public var downloader: ImageDownloader? {
        get { self[DownloaderKey.self] }
        set { self[DownloaderKey.self] = newValue }
    }

    private enum RequestModifierKey: OptionKey { typealias Value = any AsyncImageDownloadRequestModifier }

    /// Changes the request just before it is sent.
    public var requestModifier: (any AsyncImageDownloadRequestModifier)? {
        get { self[RequestModifierKey.self] }
        set { self[RequestModifierKey.self] = newValue }
    }

    private enum RedirectHandlerKey: OptionKey { typealias Value = any ImageDownloadRedirectHandler }

    /// Decides on every redirection of a download.
    public var redirectHandler: (any ImageDownloadRedirectHandler)? {
        get { self[RedirectHandlerKey.self] }
        set { self[RedirectHandlerKey.self] = newValue }
    }

    private enum ResponseModifierKey: OptionKey { typealias Value = any ImageDownloadResponseModifier }

    /// Changes the head of a response before its status is checked; nil means the downloader's. (Not in Kingfisher.)
    public var responseModifier: (any ImageDownloadResponseModifier)? {
        get { self[ResponseModifierKey.self] }
        set { self[ResponseModifierKey.self] = newValue }
    }

    private enum DecryptorKey: OptionKey { typealias Value = any ImageDataDecryptor }

    /// Decrypts the bytes of a download before ``dataModifier``; nil means the downloader's. (Not in Kingfisher.)
    public var decryptor: (any ImageDataDecryptor)? {
        get { self[DecryptorKey.self] }
        set { self[DecryptorKey.self] = newValue }
    }

    private enum DataModifierKey: OptionKey { typealias Value = any ImageDownloadDataModifier }

    /// Changes the bytes of a download before anything is made of them or stored.
    public var dataModifier: (any ImageDownloadDataModifier)? {
        get { self[DataModifierKey.self] }
        set { self[DataModifierKey.self] = newValue }
    }

    private enum OnDataReceivedKey: OptionKey {
        typealias Value = @Sendable (_ task: SessionDataTask, _ data: Data) -> Void
    }

    /// Called with every piece of a download as it arrives.
    ///
    /// Called in order on a thread of the transport, which must not be blocked, after the piece was appended to the
    /// task's ``SessionDataTask/mutableData``, and before data modifiers. A load that joins a transfer under way is
    /// given the pieces from then on. Loads of providers have none.
    public var onDataReceived: (@Sendable (_ task: SessionDataTask, _ data: Data) -> Void)? {
        get { self[OnDataReceivedKey.self] }
        set { self[OnDataReceivedKey.self] = newValue }
    }

    private enum ConnectTimeoutKey: OptionKey { typealias Value = TimeInterval }

    /// How long connecting may take, in seconds; nil means the downloader's value.
    public var connectTimeout: TimeInterval? {
        get { self[ConnectTimeoutKey.self] }
        set { self[ConnectTimeoutKey.self] = newValue }
    }

    private enum DownloadTimeoutKey: OptionKey { typealias Value = TimeInterval }

    /// How long the server may send nothing, in seconds; nil means the downloader's value.
    public var downloadTimeout: TimeInterval? {
        get { self[DownloadTimeoutKey.self] }
        set { self[DownloadTimeoutKey.self] = newValue }
    }

    private enum TotalTimeoutKey: OptionKey { typealias Value = TimeInterval }

    /// How long the whole transfer may take, in seconds, including redirects but not the time in the queue; nil means
    /// the downloader's value.
    public var totalTimeout: TimeInterval? {
        get { self[TotalTimeoutKey.self] }
        set { self[TotalTimeoutKey.self] = newValue }
    }
}
