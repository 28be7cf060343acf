// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of the library do not need the libraries it is compared with.

let isStrict = !Context.environment["KINGFISHER_STRICT", default: ""].isEmpty

/// The same as the library's.
let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "Kingfisher", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.90.0"),
    ],
    targets: [
        .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
        .systemLibrary(name: "CBaselineJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg-dev"])]),
        .systemLibrary(name: "CBaselineCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(
            name: "CBaseline",
            dependencies: ["CVips", "CBaselineJPEG", "CBaselineCurl"],
            cSettings: [.enableWarning("all"), .enableWarning("extra")]
                + (isStrict ? [.treatAllWarnings(as: .error)] : [])
        ),
        .executableTarget(
            name: "kf-bench",
            dependencies: [
                "CBaseline",
                .product(name: "Kingfisher", package: "Kingfisher"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)
