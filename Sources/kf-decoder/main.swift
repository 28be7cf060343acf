// The decoder: it is started by programs that want images decoded in a locked process, and does nothing for people.

import Foundation
import KingfisherDecoder

EmbeddedDecoder.start()
FileHandle.standardError.write(Data("kf-decoder: programs start this to decode images; it has no other use\n".utf8))
exit(64)
