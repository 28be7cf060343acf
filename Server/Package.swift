// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of the library do not need what a server depends on.

/// The same as the library's.
let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (Context.environment["KINGFISHER_STRICT", default: ""].isEmpty ? [] : [.treatAllWarnings(as: .error)])

let package = Package(
    name: "KingfisherServer",
    products: [
        .library(name: "KingfisherServer", targets: ["KingfisherServer"]),
        .library(name: "KFImageURLs", targets: ["KFImageURLs"]),
    ],
    traits: [
        .trait(name: "HEIC", description: "Reads HEIC through libheif."),
        .trait(name: "JXL", description: "Reads JPEG XL through libjxl."),
        .trait(name: "SVG", description: "Reads SVG through librsvg's program rsvg-convert."),
    ],
    dependencies: [
        .package(
            name: "Kingfisher",
            path: "..",
            traits: [
                .trait(name: "HEIC", condition: .when(traits: ["HEIC"])),
                .trait(name: "JXL", condition: .when(traits: ["JXL"])),
                .trait(name: "SVG", condition: .when(traits: ["SVG"])),
            ]
        ),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
        // Without its trait for configuration files: the server reads its settings itself.
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.20.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
    ],
    targets: [
        .target(name: "CKFServer"),
        .target(
            name: "KFImageURLs",
            // For what encoders can be set to, and for the hash of signatures.
            dependencies: [
                .product(name: "Kingfisher", package: "Kingfisher"),
                .product(name: "KingfisherTiers", package: "Kingfisher"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "KingfisherServer",
            dependencies: [
                "KFImageURLs",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Kingfisher", package: "Kingfisher"),
                .product(name: "KingfisherTiers", package: "Kingfisher"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "kf-server",
            dependencies: [
                "CKFServer",
                "KFImageURLs",
                "KingfisherServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Kingfisher", package: "Kingfisher"),
                .product(name: "KingfisherDecoder", package: "Kingfisher"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(name: "kf-server-reference", dependencies: ["KFImageURLs"], swiftSettings: settings),
        .target(
            name: "KFImageURLsTestSupport",
            dependencies: ["KFImageURLs"],
            path: "Tests/KFImageURLsTestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "KFImageURLsTests",
            dependencies: ["KFImageURLs", "KFImageURLsTestSupport"],
            resources: [.copy("Resources")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "KingfisherServerTests",
            dependencies: [
                "kf-server",
                "KFImageURLs",
                "KFImageURLsTestSupport",
                "KingfisherServer",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Kingfisher", package: "Kingfisher"),
                .product(name: "KingfisherTiers", package: "Kingfisher"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "KingfisherTestSupport", package: "Kingfisher"),
            ],
            exclude: ["Imgproxy/Recorded"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
