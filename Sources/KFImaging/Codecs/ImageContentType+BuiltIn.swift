// The formats of this build, for programs that list or choose them.

extension ImageContentType {
    /// The formats that this build reads, without coders of your own, in no particular order.
    ///
    /// What is missing was not installed when the library was compiled, or is behind a trait of the package.
    public static var readable: [ImageContentType] { Codecs.types }

    /// The formats that this build writes, without coders of your own, in no particular order.
    public static var writable: [ImageContentType] { Codecs.types.filter(Codecs.canEncode) }
}
