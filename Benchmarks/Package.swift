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
        .systemLibrary(name: "CBaselinePNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CBaselineWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(name: "CBaselineAVIF", providers: [.apt(["libavif-dev"])]),
        .systemLibrary(name: "CBaselineTIFF", pkgConfig: "libtiff-4", providers: [.apt(["libtiff-dev"])]),
        .systemLibrary(name: "CBaselineCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CBaselineCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CBaselineGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        .systemLibrary(name: "CSPNG", pkgConfig: "spng", providers: [.apt(["libspng-dev"])]),
        .target(
            name: "CBaseline",
            dependencies: [
                "CVips", "CBaselineJPEG", "CBaselinePNG", "CBaselineWebP", "CBaselineAVIF", "CBaselineTIFF",
                "CBaselineCurl", "CSPNG",
            ],
            cSettings: [.enableWarning("all"), .enableWarning("extra")]
                + (isStrict ? [.treatAllWarnings(as: .error)] : [])
        ),
        .executableTarget(
            name: "kf-bench",
            dependencies: [
                "CBaseline", "CBaselineCrypto",
                .product(name: "Kingfisher", package: "Kingfisher"),
                .product(name: "KingfisherTiers", package: "Kingfisher"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "kf-bench-desktop",
            dependencies: [
                "CBaselineGTK",
                .product(name: "Kingfisher", package: "Kingfisher"),
                .product(name: "KingfisherGTK", package: "Kingfisher"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)
