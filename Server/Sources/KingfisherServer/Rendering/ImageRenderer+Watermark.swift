// The server's watermark on results: loaded when a request needs it. A part of the renderer.

import KFImageURLs
import Kingfisher

extension ImageRenderer {
    /// Whether a result is to have the server's watermark.
    func wantsWatermark(_ request: RenderingRequest) -> Bool {
        watermarks != nil && request.plan.watermark.opacity > 0 && !request.plan.output.isRaw
    }

    /// The watermark of a result; nil if it has none.
    ///
    /// One of a source is loaded, or asked about again, if it must be; where it must not, it has to be here.
    func watermark(
        for request: RenderingRequest,
        loads: Bool
    ) async throws(RenderingError) -> Watermark? {
        guard let watermarks, wantsWatermark(request) else { return nil }
        guard let own = watermarks.request else { return try watermarks.fixed() }
        if !loads {
            guard let image = await cached(own) else { throw .watermark("it has yet to be loaded.") }
            // Requests for it at one time are one.
            if image.isStale { Task { await renew(own, in: nil) } }
            return try await watermarks.loaded(image.image)
        }
        let image: RenderedImage
        do throws(RenderingError) { image = try await render(own) } catch {
            if Task.isCancelled { throw error }
            throw .watermark("it cannot be loaded: \(error.reason)")
        }
        return try await watermarks.loaded(image.image)
    }
}
