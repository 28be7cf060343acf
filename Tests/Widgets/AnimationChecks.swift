// Animations in widgets, on a clock moved by hand and on the frame clock.

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
        var ticks = 0
        link.onTick = { ticks += 1 }
        link.isPaused = false
        await stage.frames(of: container) { ticks > 3 }
        stage.expect(link.duration > 0 && link.duration < 1, "\(link.duration) s from tick to tick")
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
