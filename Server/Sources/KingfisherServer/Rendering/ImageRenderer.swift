// Stands for the renderer until there is one.

package import KFImageURLs

package struct ImageRenderer: Rendering {
    package init(configuration: ServerConfiguration) {}

    package func cached(_ request: RenderingRequest) async -> RenderedImage? { nil }

    package func render(_ request: RenderingRequest) async throws(RenderingError) -> RenderedImage {
        throw RenderingError(status: 500, kind: "renderer", reason: "There is no renderer.")
    }
}
