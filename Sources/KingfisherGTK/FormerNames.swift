// Former names, for programs that still have them: they would be ambiguous beside those of toolkits if they were only
// deprecated, and the compiler offers the new ones.

#if canImport(CKFGTK4)
public import Kingfisher

/// The name of an image view is ``Kingfisher/KFCrossPlatformImageView``.
@available(*, unavailable, renamed: "KFCrossPlatformImageView")
public typealias ImageView = KFCrossPlatformImageView

/// The name of a button is ``Kingfisher/KFCrossPlatformButton``.
@available(*, unavailable, renamed: "KFCrossPlatformButton")
public typealias Button = KFCrossPlatformButton

/// The name of a window is ``KFWindow``.
@available(*, unavailable, renamed: "KFWindow")
public typealias Window = KFWindow

/// The name of a widget's view is ``KFWidgetView``.
@available(*, unavailable, renamed: "KFWidgetView")
public typealias WidgetView = KFWidgetView

/// The name of the main loop is ``KFMainLoop``.
@available(*, unavailable, renamed: "KFMainLoop")
public typealias MainLoop = KFMainLoop
#endif
