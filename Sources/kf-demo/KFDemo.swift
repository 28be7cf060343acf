// The entry of the demonstrations, with their names. The program uses the library as any other could.

import Foundation
import KFDemoSupport

/// `kf-demo`: shows the library at work, without the internet.
@main
struct KFDemo {
    private static let usage = """
        Shows the library at work, without the internet.

        usage: kf-demo load [--count N] [--output DIRECTORY]
                 Loads generated images, 24 or N, from a server of its own on loopback, and writes a contact sheet and
                 the cache into the directory, demo-output. Some images are slow, some redirected, one fails twice and
                 then works, and the last one is broken, which is as it should be.
               kf-demo gallery [PHOTO] --output DIRECTORY
                 Writes contact sheets: gallery.jpg with a cell for every processor, boxes.jpg with the ways to fill a
                 box, light.jpg with linear and encoded light. Without a photo, an image drawn by the program is used.
        """

    static func main() async {
        do {
            var arguments = CommandLine.arguments.dropFirst()
            switch arguments.popFirst() {
            case "load": try await LoadCommand(arguments).run()
            case "gallery": try await GalleryCommand(arguments).run()
            case nil, "help", "-h", "--help": throw Arguments.Failure.help
            case let other?: throw Arguments.Failure.wrong("unknown command \(other); there are: load, gallery")
            }
        } catch {
            Arguments.exit("kf-demo", usage: usage, for: error)
        }
    }
}
