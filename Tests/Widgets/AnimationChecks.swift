// Animations in widgets, on a clock moved by hand and on the frame clock.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import KFImaging
import Kingfisher
import KingfisherGTK

let animationChecks = [
    Check(name: "framesAtTheirTimes") { stage in
        let colors = [Paint.red, Paint.green, Paint.blue]
        for isPlain in [false, true] {
            let link = ManualDisplayLink()
            let view = isPlain ? KFCrossPlatformImageView() : AnimatedImageView()
            view.contentMode = .scaleToFill
            view.clock = { link }
            await stage.show(view)
            var isShown = false
            let provider = RawImageDataProvider(data: try Paint.gif(colors), cacheKey: UUID().uuidString)
            view.kf.setImage(with: provider, options: [.cacheMemoryOnly]) { _ in isShown = true }
            await stage.frames(of: view) { isShown && !link.isPaused }
            for (index, color) in (colors + colors).enumerated() {
                if index > 0 {
                    link.advance(by: 0.05)
                    await stage.frames(1, of: view)
                    await stage.expect(view, is: (colors + colors)[index - 1])
                    link.advance(by: 0.05)
                }
                await stage.frames(of: view) { stage.color(view) == color }
                await stage.expect(view, is: color)
            }
        }
    },
    Check(name: "ticksOnlyInView") { stage in
        let view = AnimatedImageView()
        let container = KFWidgetView(OpaquePointer(gtk_scrolled_window_new()))
        let box: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
        let content = view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
        gtk_widget_set_size_request(content, 100, 100)
        gtk_box_append(UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self), content)
        let filler: UnsafeMutablePointer<GtkWidget> = gtk_label_new("")
        gtk_widget_set_size_request(filler, 100, 5_000)
        gtk_box_append(UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self), filler)
        let scrolled = container.widget
        gtk_scrolled_window_set_child(scrolled, box)
        await stage.show(container)
        let link = FrameClockLink(UnsafeMutableRawPointer(content))
        var (ticks, shortest) = (0, TimeInterval.infinity)
        link.onTick = {
            ticks += 1
            shortest = min(shortest, link.duration)
        }
        link.isPaused = false
        await stage.frames(of: container) { ticks > 3 }
        stage.expect(shortest > 0 && shortest < 1, "\(shortest) s from tick to tick")
        gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(scrolled), 3_000)
        await stage.frames(4, of: container)
        let before = ticks
        await stage.frames(20, of: container)
        stage.expect(ticks == before, "\(ticks - before) ticks out of view")
        gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(scrolled), 0)
        await stage.frames(of: container) { ticks > before }
        stage.expect(ticks > before, "ticks again in view")
        link.invalidate()
        stage.expect(link.isPaused, "no callback is left")
    },
    Check(name: "sleepsOutOfView") { stage in
        let (container, views) = scrolledAnimations(count: 3)
        await stage.show(container)
        for view in views { view.image = try animation() }
        await stage.frames(of: container) { views.allSatisfy { $0.isAnimating } }
        let sleepsInView = await MainLoopPolls.waitWithoutEnd(polls: 30)
        stage.expect(!sleepsInView, "the main loop wakes up for animations that are in view")
        let adjustment = gtk_scrolled_window_get_vadjustment(container.widget)
        gtk_adjustment_set_value(adjustment, 3_000)
        await stage.frames(3, of: container)
        let sleeps = await MainLoopPolls.waitWithoutEnd(polls: 30)
        stage.expect(sleeps, "out of view there is no timer and no frame")
        let shown = views.map { $0.shownImage }
        gtk_adjustment_set_value(adjustment, 0)
        await stage.frames(of: container) { zip(views, shown).allSatisfy { $0.shownImage !== $1 } }
        stage.expect(zip(views, shown).allSatisfy { $0.shownImage !== $1 }, "they go on in view")
    },
    Check(name: "inPhase") { stage in
        let (container, views) = scrolledAnimations(count: 2)
        await stage.show(container)
        let image = try animation()
        views[0].image = image
        await stage.frames(of: container) { (views[0].animator?.currentFrameIndex ?? 0) >= 2 }
        views[1].image = image
        await stage.frames(of: container) { views[1].shownImage !== image }
        @MainActor func positions() -> [Int?] { views.map { $0.animator?.currentFrameIndex } }
        for _ in 0..<20 {
            let now = positions()
            stage.expect(now[0] == now[1], "\(now)")
            await stage.frames(1, of: container)
        }
        views[1].isHidden = true
        let index = views[0].animator?.currentFrameIndex
        await stage.frames(of: container) { views[0].animator?.currentFrameIndex != index }
        views[1].isHidden = false
        await stage.frames(3, of: container)
        stage.expect(positions()[0] == positions()[1], "\(positions()) after a pause")
    },
    Check(name: "animationsWithoutMotion") { stage in
        let view = AnimatedImageView()
        await stage.show(view)
        let image = try animation()
        view.image = image
        await stage.frames(of: view) { view.shownImage !== image }
        Desktop.wantsMotion = false
        stage.expect(!view.isAnimating && view.shownImage === image, "the first frame, standing still")
        let other = AnimatedImageView()
        await stage.show(other)
        other.image = image
        stage.expect(!other.isAnimating, "a view that comes later stands still, too")
        Desktop.wantsMotion = true
        await stage.frames(of: view) { view.shownImage !== image && other.isAnimating }
        stage.expect(view.isAnimating && view.shownImage !== image, "it goes on")
    },
    Check(name: "stopsWhenUnmapped") { stage in
        let view = AnimatedImageView()
        let container = KFCrossPlatformView()
        container.addSubview(view)
        await stage.show(container)
        view.kf.setImage(
            with: RawImageDataProvider(data: try Paint.gif([1, 2, 3]), cacheKey: UUID().uuidString),
            options: [.cacheMemoryOnly]
        )
        await stage.frames(of: container) { view.isAnimating }
        view.isHidden = true
        stage.expect(!view.isAnimating, "a hidden view is not animated")
        view.isHidden = false
        await stage.frames(of: container) { view.isAnimating }
        stage.expect(view.isAnimating, "it goes on when it is shown again")
    },
]

/// An animation of ten frames.
private func animation() throws -> KFCrossPlatformImage {
    let data = try Paint.gif((1...10).map { $0 * 20 })
    guard let image = KingfisherWrapper<Image>.animatedImage(data: data, options: ImageCreatingOptions()) else {
        throw CheckError.noData
    }
    return image
}

/// A scrolled window with image views at its top, and much room below them.
@MainActor
private func scrolledAnimations(count: Int) -> (KFWidgetView, [AnimatedImageView]) {
    let container = KFWidgetView(OpaquePointer(gtk_scrolled_window_new()))
    let box: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
    func append(_ widget: UnsafeMutablePointer<GtkWidget>, height: Int32) {
        gtk_widget_set_size_request(widget, 60, height)
        gtk_box_append(UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self), widget)
    }
    let views = (0..<count).map { _ in AnimatedImageView() }
    for view in views { append(view.rawWidget.assumingMemoryBound(to: GtkWidget.self), height: 30) }
    append(gtk_label_new(""), height: 5_000)
    gtk_scrolled_window_set_child(container.widget, box)
    gtk_scrolled_window_set_overlay_scrolling(container.widget, 0)  // scroll bars that fade are drawn for a while
    return (container, views)
}

/// How GLib's main loop waits for events.
@MainActor
private enum MainLoopPolls {
    private static var left = 0
    private static var waiter: CheckedContinuation<Bool, Never>?

    /// Whether the main loop waits without an end, as it does when there is no timer, before it has waited some times.
    static func waitWithoutEnd(polls: Int) async -> Bool {
        defer { g_main_context_set_poll_func(nil, nil) }
        return await withCheckedContinuation { continuation in
            (left, waiter) = (polls, continuation)
            g_main_context_set_poll_func(nil) { descriptors, count, timeout in
                MainActor.assumeIsolated { MainLoopPolls.willPoll(timeout) }
                return g_poll(descriptors, count, timeout)
            }
        }
    }

    private static func willPoll(_ timeout: Int32) {
        left -= 1
        guard timeout < 0 || left < 0 else { return }
        waiter?.resume(returning: timeout < 0)
        waiter = nil
    }
}
#endif
