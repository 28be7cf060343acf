// Ties what a view shows to a list item, for programs with a list item factory of their own.

#if canImport(CKFGTK4)
import CKFGTK4
public import Kingfisher

extension KingfisherWrapper where Base: KFCrossPlatformImageView {
    /// Ties what is loaded into the view to what a list item shows now. (Not in Kingfisher.)
    ///
    /// When the list item comes to show something else, or nothing, the load that is under way is cancelled and the
    /// image is removed, before the factory's "bind" for the next one: no handler of "unbind" is needed. To be called
    /// in "bind", each time; before or after `setImage`.
    ///
    ///     view.kf.setImage(with: url)
    ///     view.kf.bind(to: item)
    ///
    /// On the main thread. An ``ImageListFactory`` does this, and more, by itself.
    ///
    /// - Parameter item: A `GtkListItem *` that is bound.
    @MainActor
    public func bind(to item: OpaquePointer) {
        let (object, shown, connection) = (UnsafeMutableRawPointer(item), gtk_list_item_get_item(item), Connection())
        connection.handler = KFGTK.connect("notify::item", of: object) { [weak view = base] _ in
            guard gtk_list_item_get_item(item) != shown else { return }
            KFGTK.disconnect(connection.handler, of: object)
            view?.kf.cancelDownloadTask()
            view?.kf.setImage(with: nil as Source?)
        }
    }
}

/// The number of a handler, which the handler itself has to know.
@MainActor
private final class Connection {
    var handler: UInt = 0
}
#endif
