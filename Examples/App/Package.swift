// swift-tools-version: 6.0
import PackageDescription

// An app as it is on Apple's systems: it names Kingfisher, not this library. On Linux a mirror of SwiftPM's puts this
// library in its place, and nothing here is edited; Scripts/build-examples does it.

let package = Package(
    name: "App",
    platforms: [.macOS(.v13)],
    dependencies: [.package(url: "https://github.com/onevcat/Kingfisher", from: "8.0.0")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [.product(name: "Kingfisher", package: "Kingfisher")],
            path: "Sources"
        )
    ]
)
