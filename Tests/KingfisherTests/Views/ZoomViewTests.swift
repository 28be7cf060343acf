// Zoom views without a toolkit: what is decoded for how large an image is shown, and what is kept meanwhile.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct ZoomViewTests {
    private func view(_ width: CGFloat = 64, _ height: CGFloat = 64) -> ZoomView {
        let view = ZoomView()
        view.bounds = CGRect(x: 0, y: 0, width: width, height: height)
        return view
    }

    /// Loads into a view and waits for the end; an original of 640 × 320 pixels if it is not there yet.
    @discardableResult
    private func load(
        _ source: (any SourceConvertible)?,
        into view: ZoomView,
        _ rig: Rig,
        _ options: KingfisherOptionsInfo = []
    ) async -> Outcome {
        await withCheckedContinuation { done in
            view.kf.setImage(with: source, options: rig.viewOptions + [.waitForCache] + options) {
                done.resume(returning: $0)
            }
        }
    }

    private func wait(_ view: ZoomView, forWidth width: Int) async {
        while view.image?.pixelWidth != width { await Task.yield() }
    }

    @discardableResult
    private func route(_ rig: Rig, _ path: String = "/a.jpg") throws -> URL {
        rig.server.route(path, .data(try SampleImage.jpeg(640, 320)))
    }

    @Test("An image is decoded at the size of the view, then by steps of two as it is zoomed in, and no further")
    func growing() async throws {
        try await Rig.run { rig in
            let (url, view) = (try route(rig), view())
            #expect(await load(url, into: view, rig).code == 0)
            #expect(view.image?.pixelWidth == 64 && view.originalSize == CGSize(width: 640, height: 320))
            #expect(view.zoom == 0.1 && view.mode == .fit && view.kf.taskIdentifier == nil)
            let first = view.image
            view.zoom(to: 0.2, around: CGPoint(x: 10, y: 20))
            let frame = view.geometry.frame
            #expect(view.kf.taskIdentifier != nil && view.image === first && view.loadCount == 0)
            await wait(view, forWidth: 160)
            #expect(view.zoom == 0.2 && view.geometry.frame == frame)
            // Of the original on disk only as many pixels are decoded.
            #expect(view.image?.contentType == .jpeg && rig.server.count("/a.jpg") == 1)
            view.zoom = 0.25
            #expect(view.kf.taskIdentifier == nil)
            view.mode = .actualSize
            await wait(view, forWidth: 640)
            view.zoom = 8
            #expect(view.zoom == 8 && view.kf.taskIdentifier == nil)
            view.mode = .fit
            #expect(view.image?.pixelWidth == 640 && view.kf.taskIdentifier == nil)
        }
    }

    @Test("A view that grows loads more, by the same steps, and not for each size on the way")
    func resizing() async throws {
        try await Rig.run { rig in
            let (url, view) = (try route(rig), view())
            await load(url, into: view, rig)
            for side in 65...400 { view.bounds.size = CGSize(width: side, height: side) }
            view.bounds.size = .zero
            view.bounds.size = CGSize(width: 300, height: 300)
            await wait(view, forWidth: 320)
            #expect(view.zoom == 300.0 / 640 && rig.server.count("/a.jpg") == 1)
        }
    }

    @Test("A load waits until the view has a size on both sides")
    func noSize() async throws {
        try await Rig.run { rig in
            let (url, view) = (try route(rig), ZoomView())
            let done = Promise<Int>()
            view.kf.setImage(with: url, options: rig.viewOptions) { done.fulfil($0.code) }
            view.bounds.size = CGSize(width: 64, height: 0)
            view.layoutDidChange()
            #expect(view.kf.taskIdentifier != nil && view.zoom == 1 && view.geometry.frame == .zero)
            view.bounds.size = CGSize(width: 64, height: 64)
            #expect(await done.value == 0 && view.image?.pixelWidth == 64)
        }
    }

    @Test("A local file is read again, and not copied into the cache")
    func localFile() async throws {
        try await Rig.run { rig in
            let file = rig.directory.appendingPathComponent("a.jpg")
            try SampleImage.jpeg(640, 320).write(to: file)
            let view = view()
            #expect(await load(file, into: view, rig).code == 0 && view.image?.pixelWidth == 64)
            view.mode = .actualSize
            await wait(view, forWidth: 640)
            #expect(rig.files.isEmpty)
        }
    }

    @Test("An animation, a processed image and one that was set are shown as they are")
    func wholeImages() async throws {
        try await Rig.run { rig in
            let view = view()
            let frames = (0..<2).map { SampleImage.gradient(128, 64, tint: UInt8($0 * 99)) }
            let animation = try #require(Image.animatedImage(with: frames, duration: 1)?.frames)
            rig.server.route("/a.gif", .data(try Codecs.encode(animation, as: .gif)))
            await load(rig.server.url("/a.gif"), into: view, rig)
            #expect(view.originalSize == CGSize(width: 128, height: 64) && view.animator != nil)
            view.zoom = 4
            #expect(view.kf.taskIdentifier == nil)
            await load(try route(rig), into: view, rig, [.processor(BlackWhiteProcessor())])
            #expect(view.image?.pixelWidth == 640 && view.mode == .fit && view.zoom == 0.1)
            let bitmap = try #require(SampleImage.gradient(200, 100).cgImage)
            view.image = Image(cgImage: bitmap, scale: 2, orientation: .right)
            #expect(view.originalSize == CGSize(width: 100, height: 200) && view.zoom == 0.32)
            view.image = nil
            #expect(view.originalSize == .zero && view.geometry.frame == .zero)
        }
    }

    @Test("Another image is shown as a whole, also one of the same size; the mode stays unless it is a factor")
    func anotherImage() async throws {
        try await Rig.run { rig in
            let view = view()
            var zooms: [CGFloat] = []
            view.onZoom = { zooms.append(view.zoom) }
            await load(try route(rig), into: view, rig)
            view.zoom = 0.15
            view.pan(by: CGSize(width: 9, height: 0))
            await load(try route(rig, "/b.jpg"), into: view, rig)
            #expect(view.mode == .fit)
            view.mode = .actualSize
            view.pan(by: CGSize(width: 200, height: 0))
            await load(try route(rig), into: view, rig)
            #expect(view.mode == .actualSize && view.geometry.frame.midX == 32)
            #expect(zooms.contains(0.1) && zooms.contains(0.15) && zooms.last == 1)
            view.onZoom = nil
        }
    }

    @Test("Loading more ends when another image is wanted, and when the view is gone")
    func cancelling() async throws {
        try await Rig.run { rig in
            let url = try route(rig)
            for isReleased in [false, true] {
                var view: ZoomView? = self.view()
                let first = try #require(view)
                await load(url, into: first, rig)
                let mayEnd = rig.holdDisk(url)
                first.mode = .actualSize
                let growth = try #require(first.growth)
                #expect(!growth.isCancelled && first.kf.taskIdentifier != nil)
                if isReleased {
                    weak let known = first
                    _ = (consume first, view = nil)
                    #expect(known == nil)
                } else {
                    first.kf.setImage(with: nil as URL?)
                    #expect(first.image == nil && first.kf.taskIdentifier == nil)
                }
                #expect(growth.isCancelled)
                mayEnd.fulfil(())
                await rig.waitForDisk(url)
                #expect(isReleased || view?.image == nil)
            }
        }
    }

    @Test("What cannot be loaded shows the failure image, and what cannot be loaded larger stays")
    func failures() async throws {
        try await Rig.run { rig in
            rig.server.route("/bad.jpg", .data(Data("no image".utf8)))
            let (view, failure) = (view(), SampleImage.gradient(8, 8))
            let outcome = await load(rig.server.url("/bad.jpg"), into: view, rig, [.onFailureImage(failure)])
            #expect(outcome.code != 0 && view.image === failure)
            let url = try route(rig)
            await load(url, into: view, rig, [.onFailureImage(failure)])
            let small = view.image
            await rig.cache.clearCache()
            rig.server.route("/a.jpg", .data(Data("no image".utf8)))
            view.mode = .actualSize
            while view.kf.taskIdentifier != nil { await Task.yield() }
            #expect(view.image === small && view.zoom == 1)
            // The next zoom tries again.
            try route(rig)
            view.zoom = 0.5
            await wait(view, forWidth: 320)
        }
    }

    @Test("An image that is set while more pixels are loaded stays") func imageSetWhileGrowing() async throws {
        try await Rig.run { rig in
            let view = view()
            await load(try route(rig), into: view, rig)
            view.mode = .actualSize
            #expect(view.kf.taskIdentifier != nil)
            let other = SampleImage.gradient(8, 8)
            view.image = other
            while view.kf.taskIdentifier != nil { await Task.yield() }
            #expect(view.image === other)
            #expect(await view.originalBytes(of: other) == nil)
        }
    }

    @Test("What is flung goes on with the view's clock, and stops at the edge, at another image and off the screen")
    func flinging() async throws {
        let view = view()
        let renderer = TestRenderer.show(view)
        renderer.bounds = CGRect(x: 0, y: 0, width: 64, height: 64)
        view.image = SampleImage.gradient(640, 320)
        view.zoom = 1
        let start = view.geometry.frame.minX
        view.fling(velocity: CGSize(width: 400, height: 0))
        renderer.advance(by: 0.1)
        let moved = view.geometry.frame.minX - start
        #expect(moved > 25 && moved < 40 && renderer.running == 1)
        for _ in 0..<30 { renderer.advance(by: 0.1) }
        #expect(renderer.running == 0 && view.geometry.frame.minX - start > 90)
        view.fling(velocity: CGSize(width: 40_000, height: 0))
        for _ in 0..<3 { renderer.advance(by: 0.1) }
        #expect(renderer.running == 0 && view.geometry.frame.minX == 0)
        let ends: [@MainActor () -> Void] = [
            { view.pan(by: .zero) }, { view.image = SampleImage.gradient(640, 320) }, { view.isOnScreen = false },
        ]
        for end in ends {
            view.zoom = 1
            view.fling(velocity: CGSize(width: -400, height: 0))
            #expect(renderer.running == 1)
            end()
            #expect(renderer.running == 0)
        }
        view.isOnScreen = true
        renderer.showsMotion = false
        view.fling(velocity: CGSize(width: -400, height: 0))
        #expect(renderer.running == 0)
    }
}
