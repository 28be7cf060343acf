// Where this program lies. For programs that are found beside it.

import CKFLinux
import Foundation

/// The folders of this program's files.
package enum ProgramFolders {
    /// The folder of the program, and the folder of the library or test bundle with this code if that is another one.
    package static var own: [String] {
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let code = kf_code_path().map { String(cString: $0) }
        let folders = [program, code].compactMap {
            $0.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
        }
        return folders.first == folders.last ? Array(folders.prefix(1)) : folders
    }
}
