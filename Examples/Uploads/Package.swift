// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of the library do not need what it depends on.

let package = Package(
    name: "Uploads",
    dependencies: [
        // Yours is .package(url: "…/kingfisher-linux.git", branch: "main"), and the products' package kingfisher-linux.
        .package(name: "Kingfisher", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.20.0", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Uploads",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Kingfisher", package: "Kingfisher"),
                .product(name: "KingfisherDecoder", package: "Kingfisher"),
            ],
            // UploadHandling.swift is a link to the snippet that the pages show.
            path: "Sources",
            // For the library's own checks.
            swiftSettings: Context.environment["KINGFISHER_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]
        )
    ]
)
