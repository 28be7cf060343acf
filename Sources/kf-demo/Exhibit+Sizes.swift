// The exhibits of the smaller sheets of `kf-demo gallery`: how images fill a box, and what light does to small ones.

import Foundation
import KFImaging
import Kingfisher

extension Exhibit {
    /// The modes of thumbnails, and the parts that are kept where something is cut off.
    static let boxes: [Exhibit] = [Exhibit("the image", DefaultImageProcessor.default)] + modes + anchors + [padded]

    private static let modes: [Exhibit] = ThumbnailMode.allCases.map { mode in
        let name = mode == .fit ? "" : ",\(mode.rawValue)"
        return Exhibit("thumbnail(150x150\(name))", ThumbnailImageProcessor(size: size(150, 150), mode: mode))
    }

    private static let anchors: [Exhibit] = [
        anchored(.point(CGPoint(x: 0, y: 0.5)), "0,0.5"), anchored(.point(CGPoint(x: 0.5, y: 0.5)), "0.5,0.5"),
        anchored(.point(CGPoint(x: 1, y: 0.5)), "1,0.5"), anchored(.smart, "smart"),
    ]

    private static let padded = Exhibit(
        "pad(150x150,#1386c4)",
        CanvasResizingImageProcessor(
            size: size(150, 150),
            scaleMode: .aspectFit,
            backgroundColor: Color(red: 19 / 255, green: 134 / 255, blue: 196 / 255)
        )
    )

    /// A part of two images as they are, and both made smaller in either light.
    static let light = [(Subject.lines, "lines of one pixel"), (.stars, "stars of one pixel")].flatMap {
        subject,
        name in
        [
            Exhibit(
                "\(name)",
                CroppingImageProcessor(size: size(240, 180), anchor: CGPoint(x: 0.5, y: 0.5)),
                on: subject
            ),
            Exhibit("thumbnail(240x180)", ThumbnailImageProcessor(size: size(240, 180)), on: subject),
            Exhibit(
                "thumbnail(240x180,light=encoded)",
                ThumbnailImageProcessor(size: size(240, 180), space: .encoded),
                on: subject
            ),
        ]
    }

    private static func anchored(_ anchor: ThumbnailAnchor, _ text: String) -> Exhibit {
        Exhibit(
            "thumbnail(100x150,fill,anchor=\(text))",
            ThumbnailImageProcessor(size: size(100, 150), mode: .fill, anchor: anchor)
        )
    }
}
