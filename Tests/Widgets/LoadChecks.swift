// Loads that end in widgets: from the network, memory and disk, replaced, broken.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import KFImaging
import KFSupport
import Kingfisher
import KingfisherGTK
import KingfisherTestSupport

let loadChecks = [
    Check(name: "loadsFromNetworkMemoryAndDisk") { stage in
        let (server, options, cache) = try await stage.network()
        let url = server.route("/blue.png", .data(try Paint.png(Paint.blue)))
        let view = KFCrossPlatformImageView()
        view.contentMode = .scaleToFill
        await stage.show(view)
        for expected in [CacheType.none, .memory, .disk] {
            if expected == .disk { cache.clearMemoryCache() }
            view.image = nil
            var found: CacheType?
            view.kf.setImage(with: url, options: options + [.waitForCache]) { found = try? $0.get().cacheType }
            if expected == .memory { stage.expect(found == .memory, "a memory hit is there before the call returns") }
            await stage.frames(of: view) { found != nil }
            stage.expect(found == expected, "\(String(describing: found)) instead of \(expected)")
            await stage.expect(view, is: Paint.blue)
        }
    },
    Check(name: "rapidRetargets") { stage in
        let (server, options, _) = try await stage.network()
        let gate = Gate()
        for number in 0..<200 {
            let data = try Paint.png(UInt32(number) << 8)
            server.route("/\(number).png") { _ in
                if number % 7 == 0 { await gate.wait() }
                return .data(data)
            }
        }
        let view = KFCrossPlatformImageView()
        view.contentMode = .scaleToFill
        await stage.show(view)
        var (successes, others) = (0, 0)
        for number in 0..<200 {
            view.kf.setImage(with: server.url("/\(number).png"), options: options) { result in
                if case .success = result { successes += 1 } else { others += 1 }
            }
            if number % 20 == 0 { await stage.frames(of: view) }
        }
        gate.open()
        await stage.frames(of: view) { successes + others == 200 }
        await stage.expect(view, is: 199 << 8)
        stage.expect(view.kf.taskIdentifier == nil && others > 0, "\(successes) successes, \(others) others")
    },
    Check(name: "imageSizedToItsView") { stage in
        let (server, options, _) = try await stage.network()
        server.route("/large.png", .data(try Paint.png(Paint.blue, width: 2_048, height: 2_048)))
        let view = KFCrossPlatformImageView()
        view.contentMode = .scaleToFill
        // Begun before there is a window, it waits for the layout.
        view.kf.setImage(with: server.url("/large.png"), options: options + [.sizedToView, .waitForCache])
        await stage.show(view, size: CGSize(width: 256, height: 256))
        await stage.frames(of: view) { view.image != nil }
        let scale = Int(view.contentScaleFactor)
        @MainActor func width() -> Int { view.image?.pixelWidth ?? 0 }
        stage.expect(width() == 256 * scale, "\(width()) pixels wide at scale \(scale)")
        await stage.expect(view, is: Paint.blue)
        gtk_widget_set_size_request(view.rawWidget.assumingMemoryBound(to: GtkWidget.self), 512, 512)
        await stage.frames(of: view) { width() == 512 * scale }
        stage.expect(width() == 512 * scale, "\(width()) pixels wide in \(view.bounds)")
        await stage.expect(view, is: Paint.blue)
    },
    Check(name: "brokenPicture") { stage in
        let view = KFCrossPlatformImageView()
        view.contentMode = .scaleToFill
        await stage.show(view)
        var code: Int?
        view.kf.setImage(
            with: RawImageDataProvider(data: Data("not an image".utf8), cacheKey: UUID().uuidString),
            placeholder: Paint.plain(Paint.green),
            options: [.onFailureImage(Paint.plain(Paint.red))]
        ) { result in
            if case .failure(let error) = result { code = error.errorCode }
        }
        stage.expect(view.image?.cgImage != nil && code == nil, "the placeholder is there at once")
        await stage.frames(of: view) { code != nil }
        await stage.expect(view, is: Paint.red)
        stage.expect(code == 4001, "\(String(describing: code))")
    },
    Check(name: "declaredImage") { stage in
        let link = ManualDisplayLink()
        var successes = 0
        let provider = RawImageDataProvider(data: try Paint.png(Paint.blue), cacheKey: UUID().uuidString)
        let view = KFImage.dataProvider(provider)
            .placeholder { filledView(Paint.green) }
            .resizable()
            .configure { $0.clock = { link } }
            .cacheMemoryOnly()
            .fade(duration: 1)
            .onSuccess { _ in successes += 1 }
            .makeView()
        await stage.show(view)
        await stage.frames(of: view) { successes == 1 }
        link.advance(by: 0.5)
        link.advance(by: 0.5)
        await stage.expect(view, is: Paint.blue)
        view.show(KFImage(source: nil).placeholder { filledView(Paint.green) })
        await stage.expect(view, is: Paint.green)
    },
    Check(name: "hiddenAndUnparentedViews") { stage in
        let (server, options, _) = try await stage.network()
        let gate = Gate()
        server.route("/blue.png", try Paint.png(Paint.blue), behind: gate)
        let (container, view) = (KFCrossPlatformView(), KFCrossPlatformImageView())
        view.contentMode = .scaleToFill
        container.addSubview(view)
        await stage.show(container)
        stage.expect(view.isOnScreen, "on the screen with its container")
        var isDone = false
        view.kf.setImage(with: server.url("/blue.png"), options: options) { _ in isDone = true }
        view.removeFromSuperview()
        view.isHidden = true
        stage.expect(!view.isOnScreen, "off the screen without its container")
        gate.open()
        await stage.frames(of: container) { isDone }
        view.isHidden = false
        container.addSubview(view)
        await stage.frames(of: container) { view.isOnScreen && view.bounds.width > 0 }
        await stage.expect(view, is: Paint.blue)
    },
    Check(name: "loadsThatReturn") { stage in
        let (server, options, _) = try await stage.network()
        let gate = Gate()
        server.route("/blue.png", try Paint.png(Paint.blue), behind: gate)
        let (container, view) = (KFCrossPlatformView(), KFCrossPlatformImageView())
        view.contentMode = .scaleToFill
        view.cancelOnDisappear = true
        container.addSubview(view)
        await stage.show(container)
        var results: [Bool] = []
        view.kf.setImage(with: server.url("/blue.png"), options: options) { result in
            results.append((try? result.get()) != nil)
        }
        await server.waitForRequests(to: "/blue.png")
        view.isHidden = true
        await stage.frames(of: container) { view.kf.taskIdentifier == nil }
        stage.expect(view.kf.taskIdentifier == nil && results.isEmpty, "no load for a hidden view")
        gate.open()
        view.isHidden = false
        await stage.frames(of: container) { !results.isEmpty }
        stage.expect(results == [true], "\(results): one call, with the image")
        await stage.expect(view, is: Paint.blue)
    },
    Check(name: "closedWindowEndsLoads") { stage in
        let (server, options, _) = try await stage.network()
        let gate = Gate()
        server.route("/held.png", Data(), behind: gate)
        let watcher = KFCrossPlatformView()
        await stage.show(watcher)
        let (box, container) = (KFCrossPlatformView(), KFCrossPlatformView())
        let views = [KFCrossPlatformImageView(), KFCrossPlatformImageView(), KFCrossPlatformImageView()]
        views[1].cancelsWhenClosed = false
        for view in views.prefix(2) { container.addSubview(view) }
        box.addSubview(container)
        box.addSubview(views[2])
        let window = KFWindow(title: "other", content: box)
        window.onClose = {}
        window.present()
        await stage.frames(of: watcher) { views[2].isOnScreen }
        var cancelled: [Int] = []
        for (index, view) in views.enumerated() {
            view.kf.setImage(with: server.url("/held.png"), options: options) { result in
                if case .failure(let error) = result, error.isTaskCancelled { cancelled.append(index) }
            }
        }
        // In another container of an open window, a load goes on.
        views[2].removeFromSuperview()
        watcher.addSubview(views[2])
        await stage.frames(of: watcher) { views[2].isOnScreen }
        window.close()
        await stage.frames(of: watcher) { !cancelled.isEmpty }
        await stage.frames(of: watcher)
        stage.expect(cancelled == [0], "\(cancelled) were cancelled")
        stage.expect(views[1].kf.taskIdentifier != nil && views[2].kf.taskIdentifier != nil, "the others go on")
        for view in views { view.kf.cancelDownloadTask() }
        gate.open()
    },
]

/// A view of one colour.
@MainActor
private func filledView(_ color: UInt32) -> KFCrossPlatformView {
    let view = KFCrossPlatformImageView()
    view.contentMode = .scaleToFill
    view.image = Paint.plain(color)
    return view
}
#endif
