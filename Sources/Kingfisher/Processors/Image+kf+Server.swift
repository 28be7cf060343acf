// `image.kf` for the image server: effects that look as libvips makes them, which others have no use for.

import KFImaging

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image, blurred by a Gaussian that ends where it falls below a fifth of its height.
    ///
    /// - Parameter sigma: The standard deviation before that, in pixels.
    /// - Returns: The new image; the image itself where nothing is to be blurred; nil without memory for it.
    @_spi(Server) public func blurredByCutGaussian(sigma: Double) -> KFCrossPlatformImage? {
        base.cutGaussianBlurred(sigma: sigma)
    }

    /// The image with sharper edges; flat areas and grain stay as they are.
    ///
    /// - Parameter sigma: The size of details, the standard deviation of a Gaussian in pixels.
    /// - Returns: The new image; the image itself where nothing is to be sharpened; nil without memory for it.
    @_spi(Server) public func sharpenedInLightness(sigma: Double) -> KFCrossPlatformImage? {
        base.sharpenedInLightness(sigma: sigma)
    }
}
