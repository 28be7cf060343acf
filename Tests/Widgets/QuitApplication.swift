// A program with an application that quits while its windows are open, for KingfisherGTKTests.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// An application with windows.
@MainActor
enum QuitApplication {
    private static var views: [Weak] = []
    private struct Weak { weak var view: KFCrossPlatformImageView? }

    /// Opens windows, quits, closes them, and prints how many of their views were there and are left.
    static func run() {
        let application = gtk_application_new(nil, GApplicationFlags(rawValue: 1 << 5))  // not a single instance
        let object = UnsafeMutableRawPointer(application)
        let main = object?.assumingMemoryBound(to: GApplication.self)
        guard let object else { return }
        KFGTK.connect("activate", of: object) { _ in
            for number in 0..<3 { open("\(number)", in: application) }
            // When nothing else is to be done: the windows have been drawn.
            g_idle_add(
                { application in
                    g_application_quit(application?.assumingMemoryBound(to: GApplication.self))
                    return 0
                },
                object
            )
        }
        let status = g_application_run(main, 0, nil)
        let opened = views.count { $0.view != nil }
        while let window = gtk_application_get_windows(application)?.pointee.data {
            gtk_window_destroy(window.assumingMemoryBound(to: GtkWindow.self))
        }
        print("status \(status), \(opened) views were open, \(views.count { $0.view != nil }) are left")
        g_object_unref(object)
    }

    private static func open(_ title: String, in application: UnsafeMutablePointer<GtkApplication>?) {
        let view = KFCrossPlatformImageView()
        view.image = Paint.plain(Paint.red)
        views.append(Weak(view: view))
        let window = KFWindow(title: title, content: view)
        gtk_window_set_application(UnsafeMutablePointer(window.widget), application)
        window.present()
    }
}
#endif
