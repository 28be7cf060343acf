// Code of the user that all downloads of a downloader go through, unless their options name other code.

extension ImageDownloader {
    /// Changes the status and the header fields of responses before they are checked; nil at first. (Not in Kingfisher.)
    ///
    /// The option ``KingfisherParsedOptionsInfo/responseModifier`` goes before it. Read when each request is built.
    public var responseModifier: (any ImageDownloadResponseModifier)? {
        get { loader.settings.withLock { $0.responseModifier } }
        set { loader.settings.withLock { $0.responseModifier = newValue } }
    }

    /// Decrypts the bytes of all downloads before anything is made of them or stored; nil at first. (Not in
    /// Kingfisher.)
    ///
    /// The option ``KingfisherParsedOptionsInfo/decryptor`` goes before it. Read when each request is built.
    public var decryptor: (any ImageDataDecryptor)? {
        get { loader.settings.withLock { $0.decryptor } }
        set { loader.settings.withLock { $0.decryptor = newValue } }
    }
}
