// How long a store may take for an answer, and for its bytes. For S3Exchange and S3Tier.

import KFSupport

/// What tells a store that is slow from one that is silent.
struct S3Pace: Sendable {
    /// How long the head of an answer may take, once the request was sent.
    let answer: Duration
    /// Bytes a second.
    private let rate: Int
    /// For the beginning of a transfer, which is slower.
    private static let slack = Duration.seconds(1)
    /// A store that sends no bytes of a body for longer than this duration is silent, not slow.
    static let longestPause = Duration.milliseconds(500)

    init(_ configuration: S3Tier.Configuration) {
        (answer, rate) = (max(configuration.answerTimeout, .milliseconds(1)), max(configuration.minimumRate, 1))
    }

    /// A pace for small answers.
    init(patience: Duration) { (answer, rate) = (patience, 1 << 20) }

    /// How long a number of bytes may take.
    func transfer(of count: Int) -> Duration {
        Duration(clampingSeconds: Double(count) / Double(rate)) + Self.slack
    }

    /// How long a request may take whose answer or body has so many bytes.
    func longest(for count: Int) -> Duration { answer + transfer(of: count) }
}
