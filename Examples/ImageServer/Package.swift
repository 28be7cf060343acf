// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of the library do not need what it depends on.

let package = Package(
    name: "ImageServer",
    dependencies: [
        // A clone of the repository has the server in a folder of its own, which is named by its path.
        .package(name: "Kingfisher", path: "../.."),
        .package(name: "KingfisherServer", path: "../../Server"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.20.0", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "ImageServer",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "KingfisherDecoder", package: "Kingfisher"),
                .product(name: "KingfisherServer", package: "KingfisherServer"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources",
            // For the library's own checks.
            swiftSettings: Context.environment["KINGFISHER_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]
        )
    ]
)
