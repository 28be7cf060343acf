// Files of BMP and TIFF as another program reads them: Pillow, which Scripts/test-server fetches.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5)), .enabled(if: Python.hasPillow, "Pillow is not installed")) struct OtherReadersTests {
    @Test(
        "Pillow reads the same pixels of BMP and TIFF as of PNG, opaque ones and with alpha",
        arguments: ["bmp", "tiff"],
        ["", "pd:3:5", "w:1", "w:7/bl:2", "pd:1:0/bg:102030"]
    )
    func pillow(format: String, options: String) async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png(63, 31))
            var files: [String] = []
            for name in [format, "png"] {
                let result = try await rig.render(options + (options.isEmpty ? "" : "/") + "f:" + name)
                let file = rig.directory.appendingPathComponent("a." + name)
                try result.image.data.write(to: file)
                files.append(file.path)
            }
            let program = """
                from PIL import Image
                one, other = (Image.open(name) for name in \(files))
                assert one.format == "\(format.uppercased())", one.format
                assert ("A" in one.mode) == ("A" in other.convert(other.mode).mode or "transparency" in other.info)
                print(one.convert("RGBA").tobytes() == other.convert("RGBA").tobytes(), one.size)
                """
            #expect(try Python.output(of: program).hasPrefix("True"))
        }
    }
}
