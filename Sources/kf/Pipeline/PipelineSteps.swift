// The table of steps, from which the help, the error messages and the parser follow.

import Foundation

extension PipelineParser {
    /// All steps.
    static let steps = sizes + shapes + colors + mixtures

    private static let sizes = [
        Entry(
            name: "thumbnail",
            usage: "thumbnail(WxH|Wx|xH[,fit|fill|exact][,anchor=AX,AY|anchor=smart][,light=encoded])",
            example: "thumbnail(200x200,fill,anchor=smart)",
            meaning: "fit into a box or fill it, decoded small; only exact enlarges, and as the first step the others "
                + "warn about smaller images"
        ) { arguments throws(PipelineError) in
            try thumbnail(&arguments)
        },
        Entry(
            name: "resize",
            usage: "resize(WxH|Wx|xH[,none|aspectFit|aspectFill][,filter=lanczos3][,light=encoded])",
            example: "resize(800x,filter=lanczos3)",
            meaning: "scale; with one side, keeping proportions"
        ) { arguments throws(PipelineError) in
            try resizing(&arguments)
        },
        Entry(
            name: "downsample",
            usage: "downsample(WxH|Wx|xH)",
            example: "downsample(1024x)",
            meaning: "decode small; the longer side counts"
        ) {
            arguments throws(PipelineError) in .downsample(try arguments.sizeOrSide())
        },
        Entry(
            name: "crop",
            usage: "crop(WxH[,AX,AY|,X,Y])",
            example: "crop(400x300,0.5,0)",
            meaning: "cut out, at an anchor from 0,0 (top left) to 1,1, or at a pixel, such as 100,50 or 1px,1px"
        ) { arguments throws(PipelineError) in
            try cropping(&arguments)
        },
        Entry(
            name: "smartcrop",
            usage: "smartcrop(WxH)",
            example: "smartcrop(100x100)",
            meaning: "cut out where there is most to see"
        ) {
            arguments throws(PipelineError) in .smartcrop(try arguments.size())
        },
        Entry(
            name: "pad",
            usage: "pad(WxH[,COLOR][,AX,AY])",
            example: "pad(1000x1000,#fff)",
            meaning: "fit in, enlarged if it is smaller, and fill the rest with a colour, or leave it transparent"
        ) { arguments throws(PipelineError) in
            try padding(&arguments)
        },
        Entry(name: "trim", usage: "trim([TOLERANCE])", example: "trim(0.1)", meaning: "cut off edges of one colour") {
            arguments throws(PipelineError) in
            .trim(tolerance: try arguments.numberIfAny("a tolerance", 0...1) ?? 0.04)
        },
    ]

    private static let shapes = [
        Entry(
            name: "round",
            usage: "round(R|P%[,corners=tl+tr+bl+br][,size=WxH][,background=COLOR])",
            example: "round(25%,corners=tl+br)",
            meaning: "round the corners"
        ) { arguments throws(PipelineError) in
            .round(try rounding(&arguments))
        },
        Entry(name: "circle", usage: "circle()", example: "circle()", meaning: "cut out a circle") {
            _ throws(PipelineError) in .circle
        },
        Entry(
            name: "border",
            usage: "border(WIDTH,COLOR[,R])",
            example: "border(8,#ff8000,20)",
            meaning: "draw a line along the edges"
        ) {
            arguments throws(PipelineError) in try bordering(&arguments)
        },
        Entry(name: "rotate", usage: "rotate(DEGREES)", example: "rotate(90)", meaning: "turn clockwise") {
            arguments throws(PipelineError) in
            .rotate(degrees: try arguments.number("a number of degrees", -3600...3600))
        },
        Entry(name: "flip", usage: "flip(h|v)", example: "flip(h)", meaning: "mirror left and right, or top and bottom")
        {
            arguments throws(PipelineError) in .flip(try arguments.word(of: PipelineStep.Axis.self))
        },
    ]

    private static let colors = [
        Entry(
            name: "blur",
            usage: "blur(SIGMA)",
            example: "blur(5)",
            meaning: "blur by a Gaussian; pixels of standard deviation"
        ) {
            arguments throws(PipelineError) in .blur(sigma: try arguments.number("a standard deviation", 0...2000))
        },
        Entry(
            name: "sharpen",
            usage: "sharpen(SIGMA[,AMOUNT])",
            example: "sharpen(1.5,0.8)",
            meaning: "make edges stand out"
        ) {
            arguments throws(PipelineError) in try sharpening(&arguments)
        },
        Entry(
            name: "overlay",
            usage: "overlay(COLOR[,FRACTION]|FILE[,anchor=AX,AY][,opacity=O][,scale=S|,width=W|,width=P%])",
            example: "overlay(logo.png,anchor=1,1,opacity=0.6,width=20%)",
            meaning: "lay a colour over the image, or another image, as large as it is, S times that, or W or P% wide; "
                + "FILE has a dot or slash, and no comma or parenthesis"
        ) { arguments throws(PipelineError) in
            try overlaying(&arguments)
        },
        Entry(name: "tint", usage: "tint(COLOR)", example: "tint(#1386c480)", meaning: "lay a colour over everything") {
            arguments throws(PipelineError) in .tint(try arguments.color())
        },
        Entry(
            name: "colors",
            usage: "colors(BRIGHTNESS,CONTRAST,SATURATION,EV)",
            example: "colors(0,1.1,1.3,0)",
            meaning: "change colours; 0,1,1,0 changes none"
        ) { arguments throws(PipelineError) in
            .colors(try controls(&arguments))
        },
        Entry(name: "grayscale", usage: "grayscale()", example: "grayscale()", meaning: "take the colours away") {
            _ throws(PipelineError) in
            .grayscale
        },
        Entry(name: "bw", usage: "bw()", example: "bw()", meaning: "take the colours away, and brighten a little") {
            _ throws(PipelineError) in .blackAndWhite
        },
    ]

    private static let mixtures = [
        Entry(
            name: "blend",
            usage: "blend(MODE[,ALPHA][,COLOR])",
            example: "blend(multiply,0.8,#f0b060)",
            meaning: "blend with a background"
        ) {
            arguments throws(PipelineError) in
            let mode = try arguments.word(of: PipelineStep.BlendMode.self)
            let (alpha, color) = try arguments.opacityAndColor()
            return .blend(mode, alpha: alpha ?? 1, background: color)
        },
        Entry(
            name: "composite",
            usage: "composite(OPERATION[,ALPHA][,COLOR])",
            example: "composite(sourceOver,#ffe0a0)",
            meaning: "compose with a background"
        ) {
            arguments throws(PipelineError) in
            let operation = try arguments.word(of: PipelineStep.CompositingOperation.self)
            let (alpha, color) = try arguments.opacityAndColor()
            return .composite(operation, alpha: alpha ?? 1, background: color)
        },
    ]

    private static func thumbnail(_ arguments: inout PipelineArguments) throws(PipelineError) -> PipelineStep {
        let size = try arguments.sizeOrSide()
        let filling = try arguments.wordIfAny(of: PipelineStep.Filling.self, before: ["anchor", "light"]) ?? .fit
        var anchor = PipelineStep.Anchor.point(CGPoint(x: 0.5, y: 0.5))
        var light = PipelineStep.Light.linear
        while let (key, value) = try arguments.named(["anchor", "light"]) {
            if key == "light" {
                light = try arguments.word(value, of: PipelineStep.Light.self, "no kind of light")
            } else if value.text == "smart" {
                anchor = .smart
            } else {
                let x = try arguments.number(value, "an anchor", 0...1)
                anchor = .point(CGPoint(x: x, y: try arguments.number("an anchor", 0...1)))
            }
        }
        return .thumbnail(size, filling, anchor, light)
    }

    private static func resizing(_ arguments: inout PipelineArguments) throws(PipelineError) -> PipelineStep {
        let size = try arguments.sizeOrSide()
        // A single side determines the scale: there is nothing to fit.
        let isWhole = size.width > 0 && size.height > 0
        let fit = isWhole ? try arguments.wordIfAny(of: PipelineStep.Fit.self, before: ["filter", "light"]) : nil
        var filter: PipelineStep.Filter?
        var light = PipelineStep.Light.linear
        while let (key, value) = try arguments.named(["filter", "light"]) {
            if key == "light" {
                light = try arguments.word(value, of: PipelineStep.Light.self, "no kind of light")
            } else {
                filter = try arguments.word(value, of: PipelineStep.Filter.self, "not a filter")
            }
        }
        return .resize(size, fit ?? .none, filter, light)
    }

    private static func cropping(_ arguments: inout PipelineArguments) throws(PipelineError) -> PipelineStep {
        let size = try arguments.size()
        guard !arguments.isEmpty else { return .crop(size) }
        switch try arguments.place() {
        case .anchor(let anchor): return .crop(size, anchor: anchor)
        case .pixel(let corner): return .cropRect(CGRect(origin: corner, size: size))
        }
    }

    private static func padding(_ arguments: inout PipelineArguments) throws(PipelineError) -> PipelineStep {
        let size = try arguments.size()
        let color = try arguments.colorIfAny()
        guard !arguments.isEmpty else { return .pad(size, color) }
        let x = try arguments.number("an anchor", 0...1)
        return .pad(size, color, anchor: CGPoint(x: x, y: try arguments.number("an anchor", 0...1)))
    }

    private static func bordering(_ arguments: inout PipelineArguments) throws(PipelineError) -> PipelineStep {
        let width = try arguments.number("a width", 0...PipelineArguments.largestSide)
        let color = try arguments.color()
        return .border(width: width, color, radius: arguments.isEmpty ? .pixels(0) : try arguments.length())
    }

    private static func overlaying(_ arguments: inout PipelineArguments) throws(PipelineError) -> PipelineStep {
        guard let path = arguments.pathIfAny() else {
            let color = try arguments.color(or: "the file of an image, such as logo.png or ./logo")
            return .overlay(color, fraction: try arguments.numberIfAny("a fraction", 0...1) ?? 0.5)
        }
        var overlay = ImageOverlay(path: path)
        var sizes = ["scale", "width"]
        while let (key, value) = try arguments.named(["anchor", "opacity"] + sizes) {
            switch key {
            case "anchor":
                let x = try arguments.number(value, "an anchor", 0...1)
                overlay.anchor = CGPoint(x: x, y: try arguments.number("an anchor", 0...1))
            case "opacity": overlay.opacity = try arguments.number(value, "an opacity", 0...1)
            case "scale": overlay.size = .scaled(try arguments.number(value, "a scale", 0.001...1000))
            default: overlay.size = .width(try arguments.length(value, "a width"))
            }
            // Either of them determines the size.
            if sizes.contains(key) { sizes = [key] }
        }
        return .overlayImage(overlay)
    }

    private static func sharpening(_ arguments: inout PipelineArguments) throws(PipelineError) -> PipelineStep {
        let sigma = try arguments.number("a sigma", 0...100)
        return .sharpen(sigma: sigma, amount: try arguments.numberIfAny("an amount", 0...100) ?? 1)
    }

    private static func controls(
        _ arguments: inout PipelineArguments
    ) throws(PipelineError) -> PipelineStep.ColorControls {
        PipelineStep.ColorControls(
            brightness: try arguments.number("a brightness", -10...10),
            contrast: try arguments.number("a contrast", -100...100),
            saturation: try arguments.number("a saturation", -100...100),
            exposure: try arguments.number("an exposure", -100...100)
        )
    }

    private static func rounding(
        _ arguments: inout PipelineArguments
    ) throws(PipelineError) -> PipelineStep.Rounding {
        var result = PipelineStep.Rounding(radius: try arguments.length())
        while let (key, value) = try arguments.named(["corners", "size", "background"]) {
            switch key {
            case "corners": result.corners = try arguments.corners(value)
            case "size": result.size = try arguments.size(value)
            default: result.background = try arguments.color(value)
            }
        }
        return result
    }
}
