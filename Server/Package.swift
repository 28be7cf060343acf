// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of the library do not need what a server depends on.

/// The same as the library's.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "KingfisherServer",
    dependencies: [
        .package(name: "Kingfisher", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.0.0"),
    ],
    targets: [
        .target(
            name: "KFImageURLs",
            dependencies: [.product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings
        ),
        .executableTarget(name: "kf-server-reference", dependencies: ["KFImageURLs"], swiftSettings: settings),
        .testTarget(
            name: "KFImageURLsTests",
            dependencies: ["KFImageURLs"],
            resources: [.copy("Resources")],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
