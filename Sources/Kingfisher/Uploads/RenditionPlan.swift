// Which size of an image is made of which: so that it is decoded once, and nothing is lost by that. For Upload.

import KFImaging

/// The order in which several sizes of an image are made.
///
/// A size is made of another one that shows all of the image, is not enlarged, and is at least twice as large in both
/// directions: the difference to one that is made of the image itself cannot be seen (more than 50 dB). All others are
/// made of the decoded image. If these have one size, that is the size it is decoded to; otherwise it is decoded to
/// twice the largest of them, or to its own size if that is smaller.
struct RenditionPlan {
    /// One size, and what it is made of.
    struct Step: Equatable {
        /// Which of the boxes it is for.
        let box: Int
        /// For which box the one is that it is made of; nil is the decoded image.
        let source: Int?
    }

    /// The size that the image is decoded to.
    let decodedSize: PixelSize
    /// The sizes, the largest first.
    let steps: [Step]

    /// - Parameters:
    ///   - boxes: The boxes; there is one at least.
    ///   - original: The size of the image as it is displayed.
    init(_ boxes: [Thumbnail], of original: PixelSize) {
        let sizes = boxes.map { $0.scaled(original) }
        var steps: [Step] = []
        for box in sizes.indices.sorted(by: { (sizes[$0].pixelCount, $1) > (sizes[$1].pixelCount, $0) }) {
            let source = steps.last { step in
                let larger = sizes[step.box]
                let isEnlarged = larger.width > original.width || larger.height > original.height
                return [.fit, .cover].contains(boxes[step.box].mode) && !isEnlarged
                    && larger.width >= 2 * sizes[box].width && larger.height >= 2 * sizes[box].height
            }
            steps.append(Step(box: box, source: source?.box))
        }
        self.steps = steps
        let direct = steps.filter { $0.source == nil }.map { sizes[$0.box] }
        let largest = direct.first ?? original
        if Set(direct).count <= 1 {
            decodedSize = largest
        } else {
            let width = direct.reduce(1) { max($0, $1.width) }
            let height = direct.reduce(1) { max($0, $1.height) }
            let isAll = 2 * width >= original.width || 2 * height >= original.height
            decodedSize = isAll ? original : PixelSize(2 * width, 2 * height)
        }
    }

    /// Whether another size is made of the one for a box.
    ///
    /// - Parameters:
    ///   - box: The box.
    ///   - index: The step that was made last.
    /// - Returns: False where no later step needs it.
    func needs(_ box: Int, after index: Int) -> Bool { steps.dropFirst(index + 1).contains { $0.source == box } }
}
