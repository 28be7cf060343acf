// What the gallery shows: one pipeline a cell, and the picture each is best seen on. Draws nothing.

import Foundation
import KFImaging
import Kingfisher

/// The cells of the gallery.
enum Gallery {
    /// A pipeline, and what it is shown on.
    struct Exhibit: Sendable {
        /// As it is typed; empty for the picture itself.
        let pipeline: String
        /// Whether a picture on nothing shows it better.
        var isOnNothing = false
    }

    /// The size of a cell in pixels; the pictures that the pipelines get fit into it.
    static let width = 240
    static let height = 180

    /// Every step there is, those with several faces more than once.
    static let exhibits =
        [
            "", "resize(120x120,aspectFit)", "resize(240x90)",
            "resize(24x18)|>resize(240x180,filter=nearest)", "resize(24x18)|>resize(240x180,filter=lanczos3)",
            "downsample(100x100)", "thumbnail(120x90)", "thumbnail(120x120,fill)",
            "thumbnail(100x160,fill,anchor=smart)", "crop(120x120)", "crop(120x90,0,1)", "smartcrop(100x100)",
        ].map { Exhibit(pipeline: $0) }
        + [Exhibit(pipeline: "trim()", isOnNothing: true)]
        + [
            "round(40)", "round(25%,corners=tl+br,background=#1386c4)", "circle()", "border(10,orange,30)",
            "rotate(15)", "rotate(-90)", "flip(h)", "flip(v)", "blur(6)", "sharpen(2,1.5)",
            "overlay(#e98a2b,0.4)", "tint(#1386c480)", "colors(0,1.2,1.8,0.3)", "bw()",
            "blend(multiply,#f0b060)", "blend(screen,#204080)", "blend(overlay,#c04080)",
            "blend(hardLight,0.7,#8040c0)", "blend(difference,white)", "blend(luminosity,#3080c0)",
        ].map { Exhibit(pipeline: $0) }
        + [
            "composite(sourceOver,#ffe0a0)", "composite(destinationOut,#1386c4)", "composite(xor,0.6,#1386c4)",
            "composite(sourceAtop,0.5,#7030a0)", "composite(plusLighter,#402060)",
        ].map { Exhibit(pipeline: $0, isOnNothing: true) }

    /// A landscape with a bird, drawn here.
    static func landscape() -> Image {
        var canvas = Landscape(seed: 0).drawn(width: 4 * width, height: 4 * height)
        let side = height * 3
        canvas.lay(Bird(shade: 0).drawn(width: side, height: side), atX: width / 3, y: height)
        return Image(cgImage: canvas.bitmap)
    }

    /// A bird on nothing, drawn here.
    static func bird() -> Image {
        Image(cgImage: Bird(shade: 0).drawn(width: 4 * width, height: 4 * height).bitmap)
    }

    /// A picture in the size of a cell; smaller ones are enlarged, so that lengths in pipelines mean the same to all.
    static func fitted(_ image: Image) -> Image? {
        let size = CGSize(width: width, height: height)
        let processor = ResizingImageProcessor(referenceSize: size, mode: .aspectFit, filter: .lanczos3)
        return processor.process(item: .image(image), options: KingfisherParsedOptionsInfo(nil))
    }

    /// The label of a pipeline: lines of at most so many letters, broken behind what separates.
    static func label(_ pipeline: String, lineLength: Int = 20) -> String {
        guard !pipeline.isEmpty else { return "the picture" }
        var lines = [""]
        var word = ""
        for letter in pipeline {
            word.append(letter)
            guard ",>(".contains(letter) else { continue }
            add(word, to: &lines, lineLength)
            word = ""
        }
        add(word, to: &lines, lineLength)
        return lines.joined(separator: "\n")
    }

    private static func add(_ word: String, to lines: inout [String], _ lineLength: Int) {
        let last = lines[lines.count - 1]
        if last.isEmpty || last.count + word.count <= lineLength {
            lines[lines.count - 1] = last + word
        } else {
            lines.append(word)
        }
    }
}
