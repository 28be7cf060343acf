// The quality that is found for a score: what URLs and settings say of it. For the plan, the configuration and the
// renderer.

@_spi(Server) import Kingfisher

/// How the quality of a result is chosen.
package enum AutoQualityMethod: String, CaseIterable, Hashable, Sendable {
    /// It is a number of the URL or of the server.
    case off = "none"
    /// It is the lowest one with which JPEG, WebP and AVIF reach a score of SSIMULACRA 2.
    case ssimulacra2
}

/// How qualities are chosen unless URLs say so.
package struct AutoQualitySettings: Hashable, Sendable {
    package var method = AutoQualityMethod.off
    /// The score.
    package var target = ImageEncodingOptions.usualTargetScore
    /// From 1 to 100.
    package var minimum = 1
    package var maximum = 100
}

/// What a URL says of it; nil is the server's.
package struct AutoQuality: Hashable, Sendable {
    package var method: AutoQualityMethod?
    package var target: Double?
    package var minimum: Int?
    package var maximum: Int?

    /// What is looked for; a maximum below the minimum is the only quality.
    func search(in settings: AutoQualitySettings) -> QualitySearch {
        let maximum = self.maximum ?? settings.maximum
        let minimum = min(self.minimum ?? settings.minimum, maximum)
        return QualitySearch(score: target ?? settings.target, qualities: minimum...maximum)
    }
}

/// A score, and the qualities from 1 to 100 among which the lowest that reaches it is looked for.
package struct QualitySearch: Hashable, Sendable {
    package let score: Double
    package let qualities: ClosedRange<Int>
}
