// Chained methods that are short for processors: they take all that their processors take.

import Foundation
import Testing

@testable import Kingfisher

@Suite struct ShortcutTests {
    private let size = CGSize(width: 30, height: 20)
    private let color = KFCrossPlatformColor.red
    private let line = Border(color: .white, lineWidth: 2)

    @Test("A chained method makes the processor with all of its parameters")
    func parameters() {
        let start = KF.url(URL(string: "http://x/a.png"))
        let corner = CGPoint(x: 1, y: 0)
        let chains: [(KF.Builder, any ImageProcessor)] = [
            (
                start.thumbnail(size: size, mode: .fill, anchor: .smart, enlarges: true, space: .encoded),
                ThumbnailImageProcessor(size: size, mode: .fill, anchor: .smart, enlarges: true, space: .encoded)
            ),
            (
                start.canvas(size: size, scaleMode: .aspectFit, anchor: corner, backgroundColor: color),
                CanvasResizingImageProcessor(size: size, scaleMode: .aspectFit, anchor: corner, backgroundColor: color)
            ),
            (
                start.resizing(referenceSize: size, mode: .aspectFill, filter: .bilinear, space: .linear),
                ResizingImageProcessor(referenceSize: size, mode: .aspectFill, filter: .bilinear, space: .linear)
            ),
            (
                start.roundCorner(radius: .point(3), border: line),
                RoundCornerImageProcessor(radius: .point(3), border: line)
            ),
            (start.tint(color: color, workingSpace: .encoded), TintImageProcessor(tint: color, workingSpace: .encoded)),
            (start.blackWhite(workingSpace: .encoded), BlackWhiteProcessor(workingSpace: .encoded)),
            (
                start.colorControls(brightness: 0.1, contrast: 1, saturation: 1, inputEV: 0, workingSpace: .encoded),
                ColorControlsProcessor(
                    brightness: 0.1,
                    contrast: 1,
                    saturation: 1,
                    inputEV: 0,
                    workingSpace: .encoded
                )
            ),
        ]
        for (builder, processor) in chains {
            let appended = (DefaultImageProcessor.default |> processor).identifier
            #expect([processor.identifier, appended].contains(builder.options.processor.identifier))
        }
    }
}
