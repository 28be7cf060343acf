// swift-tools-version: 6.2
import PackageDescription

/// Whether a variable of the environment has a value.
func isSet(_ variable: String) -> Bool { Context.environment[variable].map { !$0.isEmpty } ?? false }

/// Whether a warning fails the build.
///
/// It does in our own builds, which set `KINGFISHER_STRICT`, never in those of a program that depends on us. A newer
/// compiler has other warnings, and SwiftPM may silence those of dependencies, which it refuses beside making them
/// errors.
let isStrict = isSet("KINGFISHER_STRICT")

/// Every Swift target of ours is compiled with these.
let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

/// Every C target of ours is compiled with these.
let cSettings: [CSetting] =
    [.enableWarning("all"), .enableWarning("extra")] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

/// What loops over pixels is optimized in our debug builds, too: tests spend most of their time there.
let pixelSettings = settings + (isStrict ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])
let pixelCSettings = cSettings + (isStrict ? [.unsafeFlags(["-O2"], .when(configuration: .debug))] : [])

/// The formats that link a library only when asked for: the trait, its library and its define.
let optionalFormats = [
    (trait: "HEIC", library: "CKFHEIF", define: "KF_HEIC"),
    (trait: "JXL", library: "CKFJXL", define: "KF_JXL"),
]

/// A C library of the system.
///
/// With `pkgConfig` SwiftPM says how to install it where it is missing: that is for libraries that must be there, and
/// for those of formats that nearly everybody needs. The headers of the others are looked for when our C code is
/// compiled, which links what it finds (CKFCodecs/support/libraries.c).
func system(
    _ name: String,
    pkgConfig: String? = nil,
    apt: String,
    yum: String,
    brew: String,
    path: String? = nil
) -> Target {
    .systemLibrary(
        name: name,
        path: path ?? "Sources/CSystem/\(name)",
        pkgConfig: pkgConfig,
        providers: [.apt([apt]), .yum([yum]), .brew([brew])]
    )
}

/// Our own pkg-config file of a library.
func ownFile(_ file: String) -> String { Context.packageDirectory + "/Sources/CSystem/" + file }

/// Whether `kf` and its tests are in the package: `KINGFISHER_TOOL=1 swift build --product kf`.
///
/// The library, its tests and the demonstrations need no other package. What needs one is here only when it is asked
/// for, so that nobody has to fetch it who does not build that.
let hasTool = isSet("KINGFISHER_TOOL")

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let tool: [Target] = [
    .executableTarget(
        name: "kf",
        dependencies: ["Kingfisher", "KFImaging", "KFSupport", argumentParser],
        swiftSettings: settings
    ),
    .testTarget(
        name: "kfTests",
        dependencies: [
            "kf", "kf-decoder", "kf-demo", "Kingfisher", "KFImaging", "KFSupport", "KingfisherTestSupport",
            argumentParser,
        ],
        swiftSettings: settings
    ),
]

// Parts of the manifest, each with its type: older compilers give up on the whole as one expression.

let products: [Product] = [
    .library(name: "Kingfisher", targets: ["Kingfisher"]),
    .library(name: "KingfisherGTK", targets: ["KingfisherGTK"]),
    // Redis and S3 as caches that several machines share.
    .library(name: "KingfisherTiers", targets: ["KingfisherTiers"]),
    // GTK 4 as a C module, for programs that call it themselves; see docs/gtk-bindings.md.
    .library(name: "CKFGTK4", targets: ["CKFGTK4"]),
    // For programs that are their own decoders: images are decoded in locked processes of the same program.
    .library(name: "KingfisherDecoder", targets: ["KingfisherDecoder"]),
    .library(name: "KingfisherTestSupport", targets: ["KingfisherTestSupport"]),
    // Decodes images for programs that want that done in a locked process.
    .executable(name: "kf-decoder", targets: ["kf-decoder"]),
]

let traits: Set<Trait> = [
    .trait(name: "HEIC", description: "Decodes HEIC through libheif."),
    .trait(name: "JXL", description: "Decodes JPEG XL through libjxl."),
    .trait(name: "SVG", description: "Draws SVG through librsvg's program rsvg-convert."),
    .trait(name: "Metrics", description: "Reports the statistics of caches through swift-metrics."),
]

var dependencies: [Package.Dependency] = [
    // Fetched with the trait only.
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0")
]
if hasTool {
    dependencies.append(.package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"))
}
if isSet("KINGFISHER_DOCS") {
    // For `make docs`.
    dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin.git", from: "1.4.0"))
}

let systemLibraries: [Target] = [
    // The system's C libraries: those that must be there,
    system("CKFLibCrypto", pkgConfig: "libcrypto", apt: "libssl-dev", yum: "openssl-devel", brew: "openssl"),
    // for the test server's TLS,
    system("CKFOpenSSL", pkgConfig: "openssl", apt: "libssl-dev", yum: "openssl-devel", brew: "openssl"),
    // whose pkg-config files have flags that SwiftPM refuses with a warning, on some systems, or link too much,
    system("CKFLibcurl", apt: "libcurl4-openssl-dev", yum: "libcurl-devel", brew: "curl"),
    system("CKFZlib", apt: "zlib1g-dev", yum: "zlib-devel", brew: "zlib"),
    // those of the formats of the web,
    system("CKFJPEG", pkgConfig: "libjpeg", apt: "libjpeg-dev", yum: "libjpeg-turbo-devel", brew: "jpeg-turbo"),
    system("CKFPNG", pkgConfig: "libpng", apt: "libpng-dev", yum: "libpng-devel", brew: "libpng"),
    system("CKFWebP", pkgConfig: "libwebp", apt: "libwebp-dev", yum: "libwebp-devel", brew: "webp"),
    // those of the other formats and of operations,
    system("CKFAVIF", apt: "libavif-dev", yum: "libavif-devel", brew: "libavif"),
    system("CKFGIF", apt: "libcgif-dev", yum: "libcgif-devel", brew: "cgif"),
    system("CKFTIFF", apt: "libtiff-dev", yum: "libtiff-devel", brew: "libtiff"),
    system("CKFLCMS", apt: "liblcms2-dev", yum: "lcms2-devel", brew: "little-cms2"),
    system("CKFDeflate", apt: "libdeflate-dev", yum: "libdeflate-devel", brew: "libdeflate"),
    system("CKFXXHash", apt: "libxxhash-dev", yum: "xxhash-devel", brew: "xxhash"),
    system("CKFCairo", apt: "libcairo2-dev", yum: "cairo-devel", brew: "cairo", path: "Sources/CKFCairo"),
    // what the decoder locks itself with,
    system("CKFSeccomp", apt: "libseccomp-dev", yum: "libseccomp-devel", brew: "libseccomp"),
    // the desktop, whose own pkg-config file has flags that SwiftPM refuses with a warning,
    system(
        "CKFGTK4",
        pkgConfig: ownFile("CKFGTK4/gtk4.pc"),
        apt: "libgtk-4-dev",
        yum: "gtk4-devel",
        brew: "gtk4"
    ),
    // and those that are used with the traits only.
    system("CKFHEIF", apt: "libheif-dev", yum: "libheif-devel", brew: "libheif"),
    system("CKFJXL", apt: "libjxl-dev", yum: "libjxl-devel", brew: "jpeg-xl"),
]

let targets: [Target] = [
    // Our C code, which keeps setjmp, error callbacks and missing system calls out of Swift.
    .target(
        name: "CKFCodecs",
        dependencies: [
            "CKFJPEG", "CKFPNG", "CKFWebP", "CKFAVIF", "CKFGIF", "CKFTIFF", "CKFLCMS", "CKFDeflate",
        ] + optionalFormats.map { .target(name: $0.library, condition: .when(traits: [$0.trait])) },
        cSettings: pixelCSettings + optionalFormats.map { .define($0.define, .when(traits: [$0.trait])) },
        linkerSettings: [
            .linkedLibrary("heif", .when(traits: ["HEIC"])), .linkedLibrary("jxl", .when(traits: ["JXL"])),
        ]
    ),
    .target(
        name: "CKFCurl",
        dependencies: ["CKFLibcurl", "CKFLibCrypto"],
        cSettings: cSettings,
        linkerSettings: [.linkedLibrary("curl")]
    ),
    .target(name: "CKFLinux", dependencies: ["CKFXXHash"], cSettings: pixelCSettings),
    .target(name: "CKFSandbox", dependencies: ["CKFSeccomp"], cSettings: cSettings),
    .target(name: "CKFGTK", dependencies: ["CKFGTK4"], cSettings: cSettings),
    .target(name: "CKFDesktop", dependencies: ["CKFGTK4"], cSettings: cSettings),

    // Layer 0: the foundation, without dependencies above it.
    .target(
        name: "KFSupport",
        dependencies: ["CKFLinux", "CKFZlib"],
        swiftSettings: settings
    ),

    // Layer 1: engines that do not know each other.
    .target(name: "KFImaging", dependencies: ["KFSupport", "CKFCodecs", "CKFCairo"], swiftSettings: pixelSettings),
    .target(
        name: "KFStorage",
        dependencies: ["KFSupport", "CKFLinux", "CKFLibCrypto"],
        swiftSettings: settings
    ),
    .target(
        name: "KFTransport",
        dependencies: ["KFSupport", "CKFCurl", "CKFLinux"],
        swiftSettings: settings
    ),

    // Layer 2: the API.
    .target(
        name: "Kingfisher",
        dependencies: [
            "KFSupport", "KFImaging", "KFStorage", "KFTransport",
            .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
        ],
        swiftSettings: settings
    ),

    // The decoder process: the same codecs, in a process that is locked.
    .target(
        name: "KingfisherDecoder",
        dependencies: ["KFImaging", "KFSupport", "CKFSandbox", "CKFLinux"],
        swiftSettings: settings
    ),
    .executableTarget(name: "kf-decoder", dependencies: ["KingfisherDecoder"], swiftSettings: settings),

    // Layer 3: the users of the API.
    .target(
        name: "KingfisherTiers",
        dependencies: ["Kingfisher", "KFSupport", "KFTransport", "CKFCurl", "CKFLibCrypto", "CKFLinux"],
        swiftSettings: settings
    ),
    .target(
        name: "KingfisherGTK",
        dependencies: ["Kingfisher", "KFImaging", "CKFGTK", "CKFGTK4"],
        swiftSettings: settings
    ),
    // For `make demo` and `make gallery`.
    .executableTarget(
        name: "kf-demo",
        dependencies: [
            "Kingfisher", "KFImaging", "KFSupport", "KFDemoSupport", "KingfisherTestSupport",
        ],
        swiftSettings: settings
    ),
    // For `make desktop`: the program has the access of any other program that uses the products.
    .executableTarget(
        name: "kf-desktop",
        dependencies: [
            "Kingfisher", "KingfisherGTK", "CKFDesktop", "CKFGTK4", "KFDemoSupport",
        ],
        packageAccess: false,
        swiftSettings: settings
    ),
    // What the two have in common: how arguments are read, and a server of images.
    .target(
        name: "KFDemoSupport",
        dependencies: ["Kingfisher", "KFImaging", "KFSupport", "KingfisherTestSupport"],
        swiftSettings: settings
    ),
    .target(
        name: "KingfisherTestSupport",
        dependencies: ["KFSupport", "KFImaging", "KFTransport", "CKFLinux", "CKFOpenSSL", "CKFZlib"],
        swiftSettings: pixelSettings
    ),

    // Kills itself while it works in a cache, for `make soak` and a test.
    .executableTarget(name: "kf-soak", dependencies: ["Kingfisher"], path: "Tests/Soak", swiftSettings: settings),

    // Locks itself and tries what is forbidden, for KFSupportTests.
    .executableTarget(
        name: "kf-sandbox-checks",
        dependencies: ["CKFSandbox", "CKFSeccomp"],
        path: "Tests/Sandbox",
        cSettings: cSettings
    ),

    // A decoder that does what no decoder may, for KFImagingTests.
    .executableTarget(
        name: "kf-planted-decoder",
        dependencies: ["KingfisherDecoder", "KFImaging", "KFSupport"],
        path: "Tests/PlantedDecoder",
        swiftSettings: settings
    ),

    // Checks widgets on a main loop of its own, for KingfisherGTKTests.
    .executableTarget(
        name: "kf-widget-checks",
        dependencies: [
            "Kingfisher", "KingfisherGTK", "KFImaging", "KFSupport", "KingfisherTestSupport", "CKFGTK4", "CKFGTK",
        ],
        path: "Tests/Widgets",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "gtk-example-photo",
        dependencies: ["Kingfisher", "KingfisherGTK"],
        path: "Examples/Photo",
        swiftSettings: settings
    ),
]

let tests: [Target] = [
    .testTarget(
        name: "KFSupportTests",
        dependencies: ["KFSupport", "kf-sandbox-checks"],
        swiftSettings: settings
    ),
    .testTarget(
        name: "KFImagingTests",
        dependencies: [
            "KFImaging", "KFSupport", "KingfisherTestSupport", "CKFCodecs", "CKFLinux", "kf-decoder",
            "kf-planted-decoder", "kf-sandbox-checks",
        ],
        swiftSettings: settings
    ),
    .testTarget(
        name: "KFStorageTests",
        dependencies: ["KFStorage", "KFSupport", "KingfisherTestSupport", "CKFLinux"],
        swiftSettings: settings
    ),
    .testTarget(
        name: "KFTransportTests",
        dependencies: ["KFTransport", "KFSupport", "KingfisherTestSupport"],
        swiftSettings: settings
    ),
    .testTarget(
        name: "KingfisherTests",
        dependencies: [
            "Kingfisher", "KFImaging", "KFStorage", "KFSupport", "KFTransport", "KingfisherTestSupport", "kf-soak",
            .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
        ],
        swiftSettings: settings
    ),
    // Written as a program of a user that has not moved to Swift 6.
    .testTarget(
        name: "Swift5Tests",
        dependencies: ["Kingfisher", "KingfisherTestSupport"],
        swiftSettings: [.swiftLanguageMode(.v5)] + (isStrict ? [.treatAllWarnings(as: .error)] : [])
    ),
    .testTarget(
        name: "KingfisherTiersTests",
        dependencies: ["KingfisherTiers", "Kingfisher", "KFSupport", "KFTransport", "KingfisherTestSupport"],
        swiftSettings: settings
    ),
    .testTarget(
        name: "KingfisherGTKTests",
        dependencies: [
            "kf-widget-checks", "gtk-example-photo", "kf-desktop", "KFImaging", "KFSupport",
            "KingfisherTestSupport",
        ],
        swiftSettings: settings
    ),
    .testTarget(
        name: "KingfisherTestSupportTests",
        dependencies: ["KingfisherTestSupport", "KFImaging", "KFSupport", "KFTransport"],
        swiftSettings: settings
    ),
]

let package = Package(
    name: "Kingfisher",
    products: products + (hasTool ? [.executable(name: "kf", targets: ["kf"])] : []),
    traits: traits,
    dependencies: dependencies,
    targets: systemLibraries + targets + tests + (hasTool ? tool : []),
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)
