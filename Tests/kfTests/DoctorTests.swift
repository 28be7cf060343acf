// The command `kf doctor`, run in a process of its own.

import Foundation
import Testing

@testable import kf

@Suite(.tags(.processes)) struct DoctorTests {
    @Test("The decoder beside the tool is found, and how it is locked") func found() async throws {
        let place = TestDirectory()
        let result = try await place.kf("doctor")
        #expect(result.status == 0)
        #expect(result.output.contains("/kf-decoder\n"))
        #expect(result.output.contains("\nwritten: JPEG, PNG, GIF, WebP, AVIF, BMP, ICO, TIFF\n"))
        #expect(result.output.contains("\nseccomp: in force\n"))
        let object = try #require(try await place.kf("doctor", "--json").objects.first)
        #expect(object["seccomp"] as? Bool == true)
        #expect((object["read"] as? [String])?.contains("TIFF") == true)
        #expect((object["decoder"] as? String)?.hasSuffix("/kf-decoder") == true)
    }

    @Test("A decoder that cannot be started is a failure that names it") func missing() async throws {
        let result = try await TestDirectory().kf(["doctor"], variables: ["KF_DECODER": "/nowhere/kf-decoder"])
        #expect(result.status == 1)
        #expect(result.errorLines.first?.contains("/nowhere/kf-decoder") == true)
    }
}
