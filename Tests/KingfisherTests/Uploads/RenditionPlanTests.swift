// Which size of an upload is made of which.

import KFImaging
import Testing

@testable import Kingfisher

@Suite struct RenditionPlanTests {
    private let photo = PixelSize(4000, 3000)

    private func plan(_ widths: Int..., mode: ThumbnailMode = .fit) -> RenditionPlan {
        let boxes = widths.map { Thumbnail(width: $0, height: 0, mode: mode, anchor: .center, enlarges: false) }
        return RenditionPlan(boxes, of: photo)
    }

    @Test("A size is made of the smallest one that is twice as large; the largest is what is decoded")
    func halves() {
        let plan = plan(400, 1600, 800)
        #expect(plan.decodedSize == PixelSize(1600, 1200))
        #expect(plan.steps.map(\.box) == [1, 2, 0] && plan.steps.map(\.source) == [nil, 1, 2])
        #expect(self.plan(1600, 300, 700).steps.map(\.source) == [nil, 0, 2])
    }

    @Test("Sizes that are close are both made of an image of twice the larger one, or of all of it")
    func close() {
        let plan = plan(900, 700, 300)
        #expect(plan.decodedSize == PixelSize(1800, 1350) && plan.steps.map(\.source) == [nil, nil, 1])
        #expect(self.plan(3000, 2000).decodedSize == photo)
        #expect(self.plan(0, 1600).decodedSize == photo)
    }

    @Test("Boxes that cut are no source for others, and equal sizes are decoded to")
    func cutting() {
        let fill = Thumbnail(width: 1000, height: 1000, mode: .fill, anchor: .center, enlarges: false)
        let fit = Thumbnail(width: 300, height: 0, mode: .fit, anchor: .center, enlarges: false)
        #expect(RenditionPlan([fill, fit], of: photo).steps.map(\.source) == [nil, nil])
        #expect(plan(500, 500).decodedSize == PixelSize(500, 375))
    }

    @Test("What is enlarged is no source for others, and the image keeps its own size for them")
    func enlarging() {
        let large = Thumbnail(width: 400, height: 0, mode: .fit, anchor: .center, enlarges: true)
        let small = Thumbnail(width: 100, height: 0, mode: .fit, anchor: .center, enlarges: false)
        let plan = RenditionPlan([large, small], of: PixelSize(100, 80))
        #expect(plan.steps.map(\.source) == [nil, nil] && plan.decodedSize == PixelSize(100, 80))
    }

    @Test("A size is needed until the last one that is made of it")
    func needs() {
        let plan = plan(1600, 800, 700, 300)
        #expect(plan.steps.map(\.source) == [nil, 0, 0, 2])
        #expect(plan.needs(0, after: 0) && plan.needs(0, after: 1) && !plan.needs(0, after: 2))
        #expect(!plan.needs(1, after: 1) && plan.needs(2, after: 2))
        #expect((0...3).allSatisfy { !plan.needs($0, after: 3) })
    }
}
