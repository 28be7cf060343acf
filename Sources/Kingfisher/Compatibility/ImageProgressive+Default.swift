// The shared setting of previews, for programs that use it.

extension ImageProgressive {
    /// Blurred previews of the latest scan, without a pause between them.
    @available(*, deprecated, message: "Use `init()`: all users of a shared value share its delegate.")
    public static let `default` = ImageProgressive()
}
