// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of the library do not need what it depends on.

let package = Package(
    name: "Server",
    dependencies: [
        // Yours is .package(url: "…/kingfisher-linux.git", branch: "main"), and the product's package kingfisher-linux.
        .package(name: "Kingfisher", path: "../.."),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "Server",
            dependencies: [
                .product(name: "Kingfisher", package: "Kingfisher"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Sources",
            // For the library's own checks.
            swiftSettings: Context.environment["KINGFISHER_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]
        )
    ]
)
