// The `kf` namespace, sources, resources, providers and placeholders, each written as a program writes it.

import Foundation
import KFSupport
import Kingfisher
import KingfisherTestSupport
import Testing

/// A class of the user's that gets a namespace.
private final class Album: KingfisherCompatible {
    let title: String
    init(_ title: String) { self.title = title }
}

/// A value of the user's that gets one.
private struct Page: KingfisherCompatibleValue {
    let number: Int
}

extension KingfisherWrapper where Base: Album {
    fileprivate var shoutedTitle: String { base.title.uppercased() }
}

extension KingfisherWrapper where Base == Page {
    fileprivate var next: Page { Page(number: base.number + 1) }
}

/// A model of the user's that is loaded as it is.
private struct Avatar: Resource {
    let user: String
    let downloadURL: URL
    var cacheKey: String { "avatar of \(user)" }
}

/// A provider that reads a file, with its path as the key.
private struct FileProvider: ImageDataProvider {
    let fileURL: URL
    var cacheKey: String { fileURL.path }
    var contentURL: URL? { fileURL }

    func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        handler(Result(catching: { try Data(contentsOf: fileURL) }))
    }
}

/// A placeholder that is no view and no image.
private final class Frame: Placeholder {
    var isAdded = false
    func add(to imageView: KFCrossPlatformImageView) { isAdded = true }
    func remove(from imageView: KFCrossPlatformImageView) { isAdded = false }
}

@Suite @MainActor struct NamespaceUsageTests {
    @Test("Classes and values of the user's have a namespace, which is extended for them alone") func namespaces() {
        let album = Album("blue")
        #expect(album.kf.base === album && album.kf.shoutedTitle == "BLUE")
        #expect(Page(number: 3).kf.next.number == 4)
        let imageView = KFCrossPlatformImageView()
        #expect(imageView.kf.base == imageView)
    }

    /// Loads into a view, and returns the result.
    private func show(
        _ source: (any SourceConvertible)?,
        in view: KFCrossPlatformImageView,
        _ rig: Rig,
        placeholder: (any Placeholder)? = nil
    ) async -> Result<RetrieveImageResult, KingfisherError> {
        await withCheckedContinuation { done in
            view.kf.setImage(with: source, placeholder: placeholder, options: rig.viewOptions) {
                done.resume(returning: $0)
            }
        }
    }

    @Test("A URL is the same as its network source, a file's URL as a provider of the file") func sources() async throws
    {
        try await Rig.run { rig in
            rig.server.route("/image.png", .data(try SampleImage.png(9, 9)))
            let (url, imageView) = (rig.server.url("/image.png"), KFCrossPlatformImageView())
            let first = try await show(Source.network(url), in: imageView, rig).get()
            let second = try await show(url, in: imageView, rig).get()
            #expect(first.source == second.source && second.cacheType == .memory)
            #expect(first.source.cacheKey == url.absoluteString && first.source.url == url)

            let file = rig.directory.appendingPathComponent("image.png")
            try SampleImage.png(7, 7).write(to: file)
            let local = try await show(file, in: imageView, rig).get()
            guard case .provider(let provider) = local.source else { return #expect(Bool(false), "\(local.source)") }
            #expect(provider.contentURL == file && imageView.image?.pixelWidth == 7)
        }
    }

    @Test("A model is a resource with a key of its own, a provider reads a file") func models() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(9, 9)))
            let (imageView, file) = (KFCrossPlatformImageView(), rig.directory.appendingPathComponent("image.png"))
            let avatar = Avatar(user: "me", downloadURL: rig.server.url("/a.png"))
            #expect(try await show(avatar, in: imageView, rig).get().image.pixelWidth == 9)
            #expect(rig.cache.isCached(forKey: "avatar of me"))

            guard
                case .failure(.imageSettingError(.dataProviderError)) = await show(
                    FileProvider(fileURL: file),
                    in: imageView,
                    rig
                )
            else { return #expect(Bool(false), "there is no such file yet") }
            try SampleImage.png(7, 7).write(to: file)
            #expect(try await show(FileProvider(fileURL: file), in: imageView, rig).get().image.pixelWidth == 7)
            #expect(rig.cache.isCached(forKey: file.path))
        }
    }

    @Test("Anything may be a placeholder; without a source it stays, and the error says so") func placeholders()
        async throws
    {
        try await Rig.run { rig in
            let (imageView, frame) = (KFCrossPlatformImageView(), Frame())
            let empty = await show(nil, in: imageView, rig, placeholder: frame)
            guard case .failure(.imageSettingError(reason: .emptySource)) = empty else {
                return #expect(Bool(false), "\(empty)")
            }
            #expect(frame.isAdded && imageView.kf.taskIdentifier == nil)
            rig.server.route("/a.png", .data(try SampleImage.png(9, 9)))
            _ = try await show(rig.server.url("/a.png"), in: imageView, rig, placeholder: frame).get()
            #expect(!frame.isAdded && imageView.image?.pixelWidth == 9)
        }
    }

    @Test("A button is given an image for a state") func button() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(9, 9)))
            let button = KFCrossPlatformButton()
            let result = await withCheckedContinuation { done in
                button.kf.setImage(
                    with: .network(rig.server.url("/a.png")),
                    for: .normal,
                    placeholder: SampleImage.gradient(3, 3),
                    options: rig.viewOptions,
                    progressBlock: nil,
                    completionHandler: { done.resume(returning: $0) }
                )
                #expect(button.image(for: .normal)?.pixelWidth == 3)
            }
            #expect(try result.get().cacheType == .none && button.image(for: .normal)?.pixelWidth == 9)
        }
    }
}
