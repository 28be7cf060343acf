// swift-tools-version: 6.2
import PackageDescription

// The imaging engine alone, compiled with the address sanitizer, checks of undefined behaviour and coverage, and the
// program that runs it on broken files. `Sources` are links into the library's; `run` builds and starts it.

let isStrict = !Context.environment["KINGFISHER_STRICT", default: ""].isEmpty

let swift: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        // For a target, as for tests, what is internal can be seen.
        .unsafeFlags(["-sanitize=address", "-sanitize=fuzzer", "-parse-as-library", "-enable-testing"]),
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

let c: [CSetting] =
    [
        .unsafeFlags([
            "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined,fuzzer-no-link",
            "-fno-sanitize-recover=undefined",
        ])
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

let link: [LinkerSetting] = [.unsafeFlags(["-sanitize=address", "-sanitize=fuzzer"])]

let formats = [
    (trait: "HEIC", library: "CKFHEIF", define: "KF_HEIC"),
    (trait: "JXL", library: "CKFJXL", define: "KF_JXL"),
]

func system(_ name: String, _ pkgConfig: String?, path: String? = nil) -> Target {
    .systemLibrary(name: name, path: path ?? "Sources/CSystem/\(name)", pkgConfig: pkgConfig)
}

let package = Package(
    name: "Fuzz",
    traits: Set(formats.map { .trait(name: $0.trait) } + [.trait(name: "SVG")]),
    targets: [
        system("CKFJPEG", "libjpeg"),
        system("CKFPNG", "libpng"),
        system("CKFGIF", "cgif"),
        system("CKFWebP", "libwebp"),
        system("CKFDeflate", "libdeflate"),
        system("CKFAVIF", nil),
        system("CKFLCMS", "lcms2"),
        system("CKFTIFF", "libtiff-4"),
        system("CKFCairo", nil, path: "Sources/CKFCairo"),
        system("CKFXXHash", nil),
        system("CKFZlib", "zlib"),
        system("CKFHEIF", "libheif"),
        system("CKFJXL", "libjxl"),
        .target(
            name: "CKFCodecs",
            dependencies: [
                "CKFJPEG", "CKFPNG", "CKFDeflate", "CKFGIF", "CKFWebP", "CKFAVIF",
                "CKFLCMS", "CKFTIFF",
            ] + formats.map { .target(name: $0.library, condition: .when(traits: [$0.trait])) },
            cSettings: c + formats.map { .define($0.define, .when(traits: [$0.trait])) },
            linkerSettings: [
                .linkedLibrary("heif", .when(traits: ["HEIC"])), .linkedLibrary("jxl", .when(traits: ["JXL"])),
            ]
        ),
        .target(name: "CKFLinux", dependencies: ["CKFXXHash"], cSettings: c),
        .target(name: "KFSupport", dependencies: ["CKFLinux", "CKFZlib"], swiftSettings: swift),
        .target(name: "KFImaging", dependencies: ["KFSupport", "CKFCodecs", "CKFCairo"], swiftSettings: swift),
        .target(name: "FuzzTargets", dependencies: ["KFImaging", "KFSupport", "CKFCodecs"], swiftSettings: swift),
        // In C, because libFuzzer has the main function, which SwiftPM renames in Swift.
        .executableTarget(name: "kf-fuzz", dependencies: ["FuzzTargets"], cSettings: c, linkerSettings: link),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)
