// Where this server answers otherwise than imgproxy did, and why. The same list, in words, is "What differs" in
// docs/imgproxy.md.

import Foundation
import Kingfisher

/// A kind of recorded answers that are not repeated here.
struct KnownDifference: Sendable {
    /// In what the answers differ.
    enum Subject: String, Sendable {
        case status, size, disposition
        /// Less than 30 dB.
        case pixels
    }

    let subject: Subject
    let reason: String
    /// How many of the recorded answers are of it at most.
    let count: Int
    let covers: @Sendable (_ recorded: RecordedAnswer, _ own: OwnAnswer) -> Bool

    static let all: [KnownDifference] = [
        KnownDifference(
            subject: .status,
            reason: "A size without its number, like `w:`, is left out here; there it is an error.",
            count: 51,
            covers: { recorded, own in
                recorded.status == 404 && own.status != 404 && recorded.path.contains(/\/(w|h|mw|mh):\//)
            }
        ),
        KnownDifference(
            subject: .disposition,
            reason: "A side below 16 pixels makes JPEG of AVIF there.",
            count: 2,
            covers: { recorded, own in
                recorded.path.hasSuffix("@avif") && recorded.disposition.hasSuffix(".jpg\"")
                    && own.disposition.hasSuffix(".avif\"") && own.sides.contains { $0 < 16 }
            }
        ),
        KnownDifference(
            subject: .size,
            reason: "Where a border is half transparent, colours are rounded in another way before it is compared.",
            count: 1,
            covers: { recorded, own in
                recorded.path.contains(/\/t:.*\/a.png/)
                    && zip(recorded.sides, own.sides).allSatisfy { abs($0 - $1) <= 1 }
            }
        ),
        KnownDifference(
            subject: .pixels,
            reason: "libvips before 8.19 moves what it enlarges half a pixel to the right and down.",
            count: 1,
            covers: { recorded, _ in recorded.path == "/el:true/rt:fill/h:151/plain/S/trima.png" }
        ),
    ]
}
