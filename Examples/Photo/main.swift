import Foundation
import Kingfisher
import KingfisherGTK

try KingfisherGTK.initialize()
let view = AnimatedImageView()
view.kf.indicatorType = .activity
view.kf.setImage(with: URL(string: CommandLine.arguments[1]), options: [.transition(.fade(0.3))]) { result in
    if case .failure(let error) = result { print(error) }
}
let window = Window(title: "Photo", content: view)
window.present()
MainLoop.run()
