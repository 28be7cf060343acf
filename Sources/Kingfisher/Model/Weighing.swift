// How a processor says, before it begins, how much work an image is. For the image server's processor, and for loads.

public import Foundation

/// A processor that knows from the bytes of an image how much work it is.
@_spi(Server) public protocol WeighingImageProcessor: ImageProcessor {
    /// Called once the bytes are there, before they wait for a thread on which pixels are made.
    func weight(of data: Data) -> ImageWeight
}

/// How much work an image is.
@_spi(Server) public enum ImageWeight: Sendable {
    /// It is made in the order in which it came.
    case small
    /// Smaller ones of the same priority go first, and never wait for it.
    case large
    /// It is not made: its load fails as if the processor had made no image.
    case refused
}
