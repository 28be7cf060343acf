// Who asks a store, and by which clock: what requests to all buckets have in common. For S3Client, S3Tier and S3Reader.

import Foundation
import KFSupport

/// Credentials and signatures for one region of a store.
final class S3Account: Sendable {
    let keeper: S3CredentialKeeper
    let signature: SignatureV4
    private let clock: @Sendable () -> Date
    /// By how many seconds the clock of the store is before this machine's, once it has refused the time.
    private let clockOffset = Locked(0.0)

    init(region: String, credentials: S3CredentialSource, clock: @escaping @Sendable () -> Date = { Date() }) {
        (keeper, signature) = (S3CredentialKeeper(credentials), SignatureV4(region: region))
        self.clock = clock
    }

    /// The time, by the store's clock if that is known to be another one.
    var now: Date { clock() + clockOffset.withLock { $0 } }

    /// From now on goes by the store's clock.
    func setTime(_ date: Date) {
        let offset = date.timeIntervalSince(clock())
        clockOffset.withLock { $0 = offset }
    }
}

/// Asks a source when credentials are needed, once for all who need them at the same time.
final class S3CredentialKeeper: Sendable {
    private typealias Answer = Promise<Result<S3Credentials, any Error>>

    private struct State {
        var known: S3Credentials?
        /// What the source will say, while it is asked.
        var answer: Answer?
    }

    private enum Step { case known(S3Credentials), wait(Answer), ask(Answer) }

    private let source: S3CredentialSource
    private let state = Locked(State())

    init(_ source: S3CredentialSource) { self.source = source }

    /// The credentials to use.
    func credentials() async throws -> S3Credentials { try await credentials(otherThan: nil) }

    /// Credentials in place of those that the store has refused; nil if the source has no others.
    func replacement(for refused: S3Credentials) async throws -> S3Credentials? {
        let credentials = try await credentials(otherThan: refused)
        return credentials == refused ? nil : credentials
    }

    private func credentials(otherThan refused: S3Credentials?) async throws -> S3Credentials {
        let step = state.withLock { state -> Step in
            if let known = state.known, known != refused { return .known(known) }
            if let answer = state.answer { return .wait(answer) }
            let answer = Answer()
            state.answer = answer
            return .ask(answer)
        }
        switch step {
        case .known(let known): return known
        case .wait(let answer): return try await Self.value(of: answer)
        case .ask(let answer):
            // A task of its own: the source is not interrupted when one of those who wait leaves.
            Task { [self] in await ask(answer) }
            return try await Self.value(of: answer)
        }
    }

    /// What the source says; throws as soon as the calling task is cancelled.
    private static func value(of answer: Answer) async throws -> S3Credentials {
        let own = Answer()
        Task { own.fulfil(await answer.value) }
        return try await own.value(onCancel: { own.fulfil(.failure(CancellationError())) }).get()
    }

    private func ask(_ answer: Answer) async {
        let result: Result<S3Credentials, any Error>
        do { result = .success(try await source.load()) } catch { result = .failure(error) }
        state.withLock { state in
            state.answer = nil
            if case .success(let credentials) = result { state.known = credentials }
        }
        answer.fulfil(result)
    }
}
