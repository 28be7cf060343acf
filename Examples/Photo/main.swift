#if canImport(CKFGTK4)
import Foundation
import Kingfisher
import KingfisherGTK

func fail(_ reason: Any) -> Never {
    FileHandle.standardError.write(Data("\(reason)\n".utf8))
    exit(1)
}
guard CommandLine.arguments.count == 2 else { fail("Give the address of one image: photo https://example.com/cat.jpg") }
do { try KFGTK.initialize() } catch { fail(error) }
let view = AnimatedImageView()
view.kf.indicatorType = .activity
KF.url(URL(string: CommandLine.arguments[1])).fade(duration: 0.3).onFailure { print($0) }.set(to: view)
KFWindow(title: "Photo", content: view).present()
KFMainLoop.run()
#else
print("GTK 4 was missing when this was built: install libgtk-4-dev and build again, from clean")
#endif
