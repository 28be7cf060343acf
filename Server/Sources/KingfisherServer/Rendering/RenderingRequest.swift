// What is asked of a renderer, what comes of it, and why there may be nothing. For the routes and the renderer.

package import KFImageURLs
package import Kingfisher

/// A plan, and what else decides about its result.
package struct RenderingRequest: Hashable, Sendable {
    package let plan: ImagePlan
    /// The formats that the server prefers for this client, best first; empty without negotiation.
    ///
    /// They come before one that the plan names: where none of them holds the result, that one does.
    package let preferredFormats: [FileFormat]
    /// Whether the server's own image is taken in place of the source.
    package var isFallback = false
    /// What is taken in place of a source, and made into a result that nobody else gets; nil for sources.
    package var upload: UploadedFile?
    /// The cookies that are sent to the server of the source; nil sends none.
    package var cookies: String?
    /// Whether the source's server is asked, however long its answer may still be used.
    package var isReload = false

    package init(plan: ImagePlan, preferredFormats: [FileFormat] = []) {
        (self.plan, self.preferredFormats) = (plan, preferredFormats)
    }
}

/// A result as it is sent.
package struct RenderedImage: Sendable {
    package let image: EncodedImage
    /// A strong validator of its bytes, with quotes.
    package let entityTag: String
    /// How long its making took; nil for a result that was not made, or for another request.
    package var times: MakingTimes?
    /// In what it is not as it was asked for, a sentence for the log; nil as for ``times``.
    package var warning: String?
    /// Whether it may be sent, and is to be renewed.
    package var isStale = false
    /// The source that it was made of for this request; nil as for ``times``.
    package var origin: OriginSize?
    /// When the source was changed, as a field of HTTP; nil if that is not known.
    package var lastModified: String?

    package init(image: EncodedImage, entityTag: String) {
        (self.image, self.entityTag) = (image, entityTag)
        lastModified = image.cacheMetadata?.lastModified
    }
}

/// How large a source is.
package struct OriginSize: Sendable {
    package let width: Int
    package let height: Int
    package let byteCount: Int

    package init(width: Int, height: Int, byteCount: Int) {
        (self.width, self.height, self.byteCount) = (width, height, byteCount)
    }
}

/// The steps of a making.
package struct MakingTimes: Sendable {
    package let source: Duration
    package let pixels: Duration
    package let encoding: Duration
}

/// Why there is no result.
package struct RenderingError: Error, Sendable {
    /// The status code of the answer.
    package let status: Int
    /// One word for metrics, such as `source_timeout`.
    package let kind: String
    /// A sentence for those who develop and for the log, without anything secret.
    package let reason: String
    /// The seconds after which the same request may be answered; nil where that is not known.
    package let retryAfter: Int?
    /// The name of the option or preset that it is about, for the log; nil for others.
    package let subject: String?

    package init(status: Int, kind: String, reason: String, retryAfter: Int? = nil, subject: String? = nil) {
        (self.status, self.kind, self.reason, self.retryAfter) = (status, kind, reason, retryAfter)
        self.subject = subject
    }
}
