// The outcome of one image of `kf variants`, as lines for people and for scripts.

import Foundation
import KFSupport
import Kingfisher

/// The outcome of one image.
struct VariantsReport: Sendable {
    /// What was made of it.
    struct Written: Sendable {
        let facts: UploadFacts
        let files: [WrittenImage]
        /// The markup; nil where none was asked for.
        let html: String?
        let warnings: [String]
    }

    let source: String
    let outcome: Result<Written, Failure>

    var failure: Failure? {
        if case .failure(let failure) = outcome { failure } else { nil }
    }

    var warnings: [String] { (try? outcome.get())?.warnings ?? [] }

    /// The markup; nil where none was asked for, and for a failure.
    var html: String? { (try? outcome.get())?.html }

    /// The lines for people; none for a failure.
    var lines: [String] { ((try? outcome.get())?.files ?? []).map { $0.line(of: source) } }

    /// The line for scripts.
    var json: JSON {
        switch outcome {
        case .failure(let failure): return failure.json(about: source)
        case .success(let written):
            var members = [JSON.Member(key: "source", value: .string(Redaction.source(source)))]
            members += Self.members(of: written.facts)
            members.append(JSON.Member(key: "files", value: .array(written.files.map { .object($0.members) })))
            if let html { members.append(JSON.Member(key: "html", value: .string(html))) }
            return .object(members)
        }
    }

    private static func members(of facts: UploadFacts) -> [JSON.Member] {
        let json = try? JSONDecoder().decode(JSON.self, from: JSONEncoder().encode(facts))
        return if case .object(let members)? = json { members } else { [] }
    }
}
