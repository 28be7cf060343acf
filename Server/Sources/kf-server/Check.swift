// `kf-server check`: what is in force, and what is wrong. For those who set a server up, and for scripts that start
// one.

import ArgumentParser
import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints all settings and what is wrong with them; exits with 1 if the server would not start."
    )

    @OptionGroup var setup: SetupOptions

    func run() throws {
        let (configuration, problems) = setup.read()
        for (name, value) in configuration.inForce { print("\(name)=\(value)") }
        var complaints = problems.map(\.line)
        var isWrong = problems.contains(where: \.isError)
        var report: StartReport?
        do { report = try configuration.startReport() } catch {
            complaints += error.complaints.map { "error: \($0)" }
            isWrong = true
        }
        if let complaint = report?.folderComplaint { complaints.append("warning: \(complaint)") }
        complain(complaints)
        if isWrong { throw ExitCode(1) }
        if let report { print("Disk cache: \(report.folder)\nShared tier: \(report.tier)") }
        print("Formats read: \(ImageContentType.readable.map(\.name).joined(separator: ", "))")
        let missing = [ImageContentType.heic, .svg].filter { !ImageContentType.readable.contains($0) }.map(\.name)
        if !missing.isEmpty {
            print("Not built in: \(missing.joined(separator: ", ")); build with --traits HEIC,SVG to read them")
        }
        print("Formats written: \(ImageContentType.writable.map(\.name).joined(separator: ", "))")
        try starting { () throws(InvalidConfiguration) in try configuration.isolateDecoders() }
        let watermark = try starting { () throws(InvalidConfiguration) in try configuration.watermarkSummary() }
        print("Watermark: \(watermark)")
        print("Decoders: \(DecodingIsolation.summary(of: ImageDecodingLimits.default.isolation))")
    }
}

extension ServerConfiguration {
    fileprivate func startReport() throws(InvalidConfiguration) -> StartReport {
        let folder = ImageCache(name: "kf-server").diskStorage.directoryURL.path
        try checkStores()
        return StartReport(tier: try fleet.makeTier(), folder: folder)
    }
}
