// The steps of a pipeline as values, between the parser and the library's processors.

import Foundation

/// One step of a pipeline; lengths are in pixels.
enum PipelineStep: Equatable {
    /// Make a thumbnail in a box; a side of 0 follows from the other one and the image's proportions.
    case thumbnail(CGSize, Filling = .fit, Anchor = .point(CGPoint(x: 0.5, y: 0.5)), Light = .linear)
    /// Decode with the longer side of a size as the limit; with a side of 0, the other one limits its own side.
    case downsample(CGSize)
    /// Scale to this size; a side of 0 follows from the other one and the image's proportions.
    ///
    /// Without a filter, the library's default is used.
    case resize(CGSize, Fit = .none, Filter? = nil, Light = .linear)
    /// Cut out this size; the anchor counts from 0 at the left or top to 1 at the right or bottom.
    case crop(CGSize, anchor: CGPoint = CGPoint(x: 0.5, y: 0.5))
    /// Cut out a rectangle; what is beyond the image's edges is left out.
    case cropRect(CGRect)
    /// Cut out this size where the image has the most detail.
    case smartcrop(CGSize)
    /// Fit into this size, on a canvas of a colour or of none; the anchor counts as that of `crop` does.
    case pad(CGSize, HexColor? = nil, anchor: CGPoint = CGPoint(x: 0.5, y: 0.5))
    /// Cut off edges of one colour; 0 tolerates no difference, 1 every one.
    case trim(tolerance: Double = 0.04)
    /// Round the corners.
    case round(Rounding)
    /// Cut out a circle.
    case circle
    /// Draw a line along the edges.
    case border(width: Double, HexColor, radius: Length = .pixels(0))
    /// Turn clockwise, by degrees.
    case rotate(degrees: Double)
    /// Mirror.
    case flip(Axis)
    /// Blur.
    case blur(sigma: Double)
    /// Make edges stand out.
    case sharpen(sigma: Double, amount: Double = 1)
    /// Lay a colour over the image; a fraction of 0 hides the image, 1 the colour.
    case overlay(HexColor, fraction: Double = 0.5)
    /// Lay the image of a file over the image.
    case overlayImage(ImageOverlay)
    /// Lay a colour over everything, empty places included.
    case tint(HexColor)
    /// Change brightness, contrast, saturation and exposure.
    case colors(ColorControls)
    /// Take the colours away; the brightness stays.
    case grayscale
    /// Take the colours away, and brighten the greys a little.
    case blackAndWhite
    /// Blend the image with a background.
    case blend(BlendMode, alpha: Double = 1, background: HexColor? = nil)
    /// Compose the image with a background.
    case composite(CompositingOperation, alpha: Double = 1, background: HexColor? = nil)

    /// How a thumbnail fits its box.
    enum Filling: String, CaseIterable {
        case fit, fill, exact
    }

    /// The part of an image that fills a box.
    enum Anchor: Equatable {
        /// From 0 at the left or top to 1 at the right or bottom.
        case point(CGPoint)
        /// Where the image has the most detail.
        case smart
    }

    /// How an image is scaled to a size of another aspect ratio.
    enum Fit: String, CaseIterable {
        case none, aspectFit, aspectFill
    }

    /// The filter of scaling.
    enum Filter: String, CaseIterable {
        case nearest, bilinear, catmullRom, lanczos3
    }

    /// What becomes a mean when an image is scaled: amounts of light, or the numbers that files hold.
    enum Light: String, CaseIterable {
        case linear, encoded
    }

    /// The sides that change places.
    enum Axis: String, CaseIterable {
        /// Left and right.
        case horizontal = "h"
        /// Top and bottom.
        case vertical = "v"
    }

    /// All parameters of the step `round`.
    struct Rounding: Equatable {
        var radius: Length
        var corners = Set(Corner.allCases)
        var size: CGSize?
        var background: HexColor?
    }

    /// All parameters of the step `colors`; 0, 1, 1 and 0 change nothing.
    struct ColorControls: Equatable {
        var brightness: Double
        var contrast: Double
        var saturation: Double
        /// In stops: each one doubles the light.
        var exposure: Double
    }

    /// A radius: pixels, or a part of the image's size.
    enum Length: Equatable {
        case pixels(Double)
        /// From 0 to 1.
        case fraction(Double)
    }

    /// A corner, spelled by the first letters of its name.
    enum Corner: String, CaseIterable {
        case topLeft = "tl"
        case topRight = "tr"
        case bottomLeft = "bl"
        case bottomRight = "br"
    }

    /// Core Graphics' blend modes, in the order of their raw values.
    enum BlendMode: String, CaseIterable {
        case normal, multiply, screen, overlay, darken, lighten, colorDodge, colorBurn, softLight, hardLight
        case difference, exclusion, hue, saturation, color, luminosity
        case clear, copy, sourceIn, sourceOut, sourceAtop
        case destinationOver, destinationIn, destinationOut, destinationAtop, xor, plusDarker, plusLighter
    }

    /// AppKit's compositing operations, in the order of their raw values.
    enum CompositingOperation: String, CaseIterable {
        case clear, copy, sourceOver, sourceIn, sourceOut, sourceAtop
        case destinationOver, destinationIn, destinationOut, destinationAtop, xor, plusDarker, highlight, plusLighter
        case multiply, screen, overlay, darken, lighten, colorDodge, colorBurn, softLight, hardLight
        case difference, exclusion, hue, saturation, color, luminosity
    }
}

/// A file whose image is laid over others, as a watermark is.
struct ImageOverlay: Equatable {
    /// The size of the upper image.
    enum Size: Equatable {
        /// A multiple of its own.
        case scaled(Double)
        /// As wide as this; a part is one of the lower image's width.
        case width(PipelineStep.Length)
    }

    /// The path as it was typed.
    let path: String
    /// From 0 at the left or top to 1 at the right or bottom.
    var anchor = CGPoint(x: 0.5, y: 0.5)
    /// From 0 to 1.
    var opacity = 1.0
    var size = Size.scaled(1)
}
