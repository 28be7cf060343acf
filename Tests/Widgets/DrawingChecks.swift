// Drawing by widgets: images, fitted and rotated, transitions on a clock moved by hand, buttons, indicators.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import KFImaging
import Kingfisher
import KingfisherGTK

let drawingChecks = [
    Check(name: "pictureFillsItsView") { stage in
        let view = KFCrossPlatformImageView()
        view.contentMode = .scaleToFill
        view.image = Paint.halves(Paint.red, Paint.blue)
        await stage.show(view)
        await stage.expect(view, 0.2, is: Paint.red)
        await stage.expect(view, 0.8, is: Paint.blue)
        view.image = Paint.plain(Paint.green)
        await stage.expect(view, 0.2, is: Paint.green)
    },
    Check(name: "contentModes") { stage in
        let view = KFCrossPlatformImageView()
        view.image = Paint.halves(Paint.red, Paint.blue, width: 20, height: 20)
        await stage.show(view)  // 200 × 100 points: the image is square
        view.contentMode = .scaleAspectFit
        await stage.expect(view, 0.3, is: Paint.red)
        await stage.expect(view, 0.1, isNot: Paint.red, "fitted images leave the sides free")
        view.contentMode = .scaleAspectFill
        await stage.expect(view, 0.05, is: Paint.red)
        await stage.expect(view, 0.95, is: Paint.blue)
        view.contentMode = .center
        await stage.expect(view, 0.46, is: Paint.red)
        await stage.expect(view, 0.4, isNot: Paint.red, "small images keep their size")
    },
    Check(name: "imageLargerThanItsView") { stage in
        let view = KFCrossPlatformImageView()
        view.contentMode = .scaleToFill
        await stage.show(view)  // 200 × 100 points
        let scale = Int(view.contentScaleFactor)
        view.image = Paint.stripes([0, 0xFFFFFF, 0xFFFFFF, 0], width: 800 * scale, height: 400 * scale)
        // Four columns a pixel: two of them would be white.
        await stage.expect(view, is: 0x808080)
    },
    Check(name: "orientations") { stage in
        let view = KFCrossPlatformImageView()
        view.contentMode = .scaleToFill
        await stage.show(view)
        let bitmap = Paint.halves(Paint.red, Paint.blue).cgImage
        for orientation in Orientation.allCases {
            guard let bitmap else { continue }
            let image = Image(cgImage: bitmap, scale: 1, orientation: orientation)
            view.image = image
            for (x, y) in [(0.2, 0.2), (0.8, 0.2), (0.2, 0.8), (0.8, 0.8)] {
                let upright = image.kf.normalized
                let color = upright.kf.color(at: CGPoint(x: x * upright.size.width, y: y * upright.size.height))
                let isRed = (color?.red ?? 0) > 0.5
                await stage.expect(view, x, y, is: isRed ? Paint.red : Paint.blue)
            }
        }
    },
    Check(name: "sizeInPoints") { stage in
        let view = KFCrossPlatformImageView()
        let bitmap = Paint.plain(Paint.red, width: 80, height: 60).cgImage
        view.image = bitmap.map { Image(cgImage: $0, scale: 2) }
        var (minimum, natural): (Int32, Int32) = (0, 0)
        gtk_widget_measure(
            view.rawWidget.assumingMemoryBound(to: GtkWidget.self),
            GTK_ORIENTATION_HORIZONTAL,
            -1,
            &minimum,
            &natural,
            nil,
            nil
        )
        stage.expect(natural == 40, "80 pixels at scale 2 are \(natural) points")
    },
    Check(name: "transitions") { stage in
        let kinds: [ImageTransition] = [
            .fade(1), .flipFromLeft(1), .flipFromRight(1), .flipFromTop(1), .flipFromBottom(1),
        ]
        for kind in kinds {
            let link = ManualDisplayLink()
            let view = KFCrossPlatformImageView()
            view.contentMode = .scaleToFill
            view.clock = { link }
            view.image = Paint.plain(Paint.red)
            await stage.show(view)
            view.kf.setImage(
                with: RawImageDataProvider(data: try Paint.png(Paint.blue), cacheKey: UUID().uuidString),
                options: [.transition(kind), .cacheMemoryOnly, .keepCurrentImageWhileLoading]
            )
            await stage.frames(of: view) { !link.isPaused }
            await stage.expect(view, is: Paint.red)
            link.advance(by: 0.25)
            if case .fade = kind {
                await stage.expect(view, is: 0xBF0040)
            } else {
                await stage.expect(view, is: Paint.red)
            }
            link.advance(by: 0.25)
            if case .fade = kind { await stage.expect(view, is: 0x800080) }
            link.advance(by: 0.25)
            if case .fade = kind {
                await stage.expect(view, is: 0x4000BF)
            } else {
                await stage.expect(view, is: Paint.blue)
            }
            stage.expect(view.isOnScreen && !link.isPaused, "the transition goes on")
            link.advance(by: 0.25)
            await stage.expect(view, 0.05, is: Paint.blue)
            stage.expect(link.isPaused, "the clock stops with the transition")
        }
    },
    Check(name: "reducedMotion") { stage in
        let view = KFCrossPlatformImageView()
        view.contentMode = .scaleToFill
        await stage.show(view)
        Desktop.wantsMotion = false
        var isFinished: Bool?
        let transition = ImageTransition.custom(duration: 60, completion: { isFinished = $0 })
        let provider = RawImageDataProvider(data: try Paint.png(Paint.blue), cacheKey: UUID().uuidString)
        view.kf.setImage(with: provider, options: [.transition(transition), .cacheMemoryOnly])
        await stage.frames(of: view) { isFinished != nil }
        await stage.expect(view, is: Paint.blue)
        stage.expect(isFinished == true, "a transition that is not shown is finished at once")
        Desktop.wantsMotion = true
    },
    Check(name: "buttonStates") { stage in
        let button = KFCrossPlatformButton(togglesSelection: true)
        var presses = 0
        button.onPress = { presses += 1 }
        button.setImage(Paint.plain(Paint.red), for: .normal)
        button.setImage(Paint.plain(Paint.green), for: .disabled)
        button.alternateImage = Paint.plain(Paint.blue)
        await stage.show(button)
        await stage.expect(button, is: Paint.red)
        let widget = button.rawWidget.assumingMemoryBound(to: GtkWidget.self)
        gtk_toggle_button_set_active(button.rawWidget.assumingMemoryBound(to: GtkToggleButton.self), 1)
        stage.expect(button.state.contains(.selected) && button.currentImage === button.alternateImage, "checked")
        await stage.expect(button, is: Paint.blue)
        g_signal_emit_by_name_clicked(button.rawWidget)
        stage.expect(presses == 1, "pressed \(presses) times")
        gtk_toggle_button_set_active(button.rawWidget.assumingMemoryBound(to: GtkToggleButton.self), 0)
        gtk_widget_set_sensitive(widget, 0)
        stage.expect(button.state.contains(.disabled), "disabled")
        stage.expect(button.currentImage === button.image(for: .disabled), "the image of the disabled button")
    },
    Check(name: "indicators") { stage in
        for type in [IndicatorType.activity, .progress] {
            let view = KFCrossPlatformImageView()
            view.kf.indicatorType = type
            await stage.show(view)
            guard let indicator = view.kf.indicator else { return stage.expect(false, "no indicator") }
            let widget = indicator.view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
            stage.expect(gtk_widget_get_visible(widget) == 0, "hidden at first")
            indicator.startAnimatingView()
            indicator.update(progress: 1)
            await stage.frames(of: view)
            stage.expect(gtk_widget_get_mapped(widget) != 0, "visible while something is loaded")
            if case .progress = type {
                // At the top of the ring, in its middle.
                let top = 0.5 - 0.4 * 32 / 100
                await stage.expect(view, 0.5, top, is: 0x3584E3)
            }
            indicator.stopAnimatingView()
            stage.expect(gtk_widget_get_visible(widget) == 0, "hidden at the end")
        }
    },
    Check(name: "accessibleNames") { stage in
        let view = KFCrossPlatformImageView()
        view.accessibilityLabel = "a cat"
        await stage.show(view)
        let picture = OpaquePointer(gtk_widget_get_first_child(view.rawWidget.assumingMemoryBound(to: GtkWidget.self)))
        func has(_ property: GtkAccessibleProperty) -> Bool { gtk_test_accessible_has_property(picture, property) != 0 }
        stage.expect(has(GTK_ACCESSIBLE_PROPERTY_LABEL), "the text is the image's name")
        stage.expect(!has(GTK_ACCESSIBLE_PROPERTY_DESCRIPTION), "and not its description")
        view.accessibilityLabel = nil
        stage.expect(!has(GTK_ACCESSIBLE_PROPERTY_LABEL), "without a text there is no name")
    },
    Check(name: "spinnersAsPlaceholders") { stage in
        for placeholder in [SpinnerView(), ProgressRingView()] {
            let described = KFImage(source: nil).placeholder { placeholder }.makeView()
            await stage.show(described)
            let size = placeholder.bounds.size
            stage.expect(size.height > 0 && size.height <= 32 && size.width == size.height, "\(size) in KFImage")
            described.show(KFImage(source: nil))
            let view = KFCrossPlatformImageView()
            await stage.show(view)
            view.addSubview(placeholder)
            await stage.frames(of: view)
            stage.expect(placeholder.bounds.size == size, "\(placeholder.bounds.size) in an image view")
        }
    },
    Check(name: "viewPlaceholder") { stage in
        let view = KFCrossPlatformImageView()
        view.contentMode = .scaleToFill
        let label = KFWidgetView(OpaquePointer(gtk_label_new("wait")))
        view.image = Paint.plain(Paint.red)
        await stage.show(view)
        view.kf.setImage(with: nil, placeholder: label)
        await stage.frames(of: view)
        stage.expect(view.image == nil && label.isOnScreen, "the placeholder is shown instead of the image")
        view.kf.setImage(with: nil, placeholder: Paint.plain(Paint.blue))
        await stage.expect(view, is: Paint.blue)
        stage.expect(!label.isOnScreen && label.superview == nil, "the placeholder is gone")
    },
]

/// Presses a button, as the pointer would.
@MainActor
private func g_signal_emit_by_name_clicked(_ button: UnsafeMutableRawPointer) {
    let signal = g_signal_lookup("clicked", gtk_button_get_type())
    var instance = GValue()
    g_value_init(&instance, gtk_button_get_type())
    g_value_set_object(&instance, button)
    g_signal_emitv(&instance, signal, 0, nil)
    g_value_unset(&instance)
}
#endif
