// The thread of a node: it connects, again and again if need be, and alone uses the connection. For RedisNode.

internal import CKFCurl
internal import CKFLinux
internal import Foundation
internal import KFSupport

/// A connection that is made anew when it is lost.
///
/// Made, used and released on its thread.
final class RedisConnection {
    private let inbox: RedisInbox
    private let endpoint: RedisEndpoint
    private let settings: RedisSettings
    /// Where the thread waits: a handle of libcurl without transfers.
    private let multi: UnsafeMutableRawPointer

    /// Starts the thread, which ends after the inbox was closed.
    static func start(_ inbox: RedisInbox, to endpoint: RedisEndpoint, _ settings: RedisSettings) {
        let thread = Thread {
            kf_name_thread("kf.redis")
            guard let multi = curl_multi_init() else {
                return inbox.failed(RedisError(.notConnected, "Redis at \(endpoint) cannot be reached: no memory."))
            }
            RedisConnection(inbox, to: endpoint, settings, multi).run()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    private init(
        _ inbox: RedisInbox,
        to endpoint: RedisEndpoint,
        _ settings: RedisSettings,
        _ multi: UnsafeMutableRawPointer
    ) {
        (self.inbox, self.endpoint, self.settings, self.multi) = (inbox, endpoint, settings, multi)
    }

    deinit { curl_multi_cleanup(multi) }

    private func run() {
        // A write to a connection that the server has closed must not end the process. (OpenSSL writes like that.)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        var pauses = RedisPauses()
        while !inbox.isClosed {
            do throws(RedisFailure) {
                let session = try connect()
                inbox.connected()
                let start = ContinuousClock.now
                guard let failure = serve(session) else { return }
                // A server that closes each new connection is left alone for a while.
                guard ContinuousClock.now - start < RedisPauses.longest else {
                    pauses = RedisPauses()
                    inbox.lost()
                    continue
                }
                throw failure
            } catch {
                inbox.failed(RedisError(.notConnected, "Redis at \(endpoint) cannot be reached: \(error.reason)."))
                wait(pauses.next())
            }
        }
    }

    private func wait(_ pause: Duration) {
        let end = ContinuousClock.now + pause
        while !inbox.isClosed, case let left = end - .now, left > .zero {
            if inbox.mayWait(in: multi, takesCalls: false) {
                curl_multi_poll(multi, nil, 0, left.milliseconds, nil)
                inbox.doesNotWait()
            }
        }
    }

    // MARK: Connecting

    /// Connects, logs in, chooses the database and makes sure that the server is ready.
    private func connect() throws(RedisFailure) -> RedisSession {
        let end = ContinuousClock.now + settings.connectTimeout
        let session = RedisSession(try RedisSocket(to: endpoint, settings))
        let ping = RedisRequest(command: RedisCommand("PING"))
        let select =
            settings.database == 0 ? nil : RedisRequest(command: RedisCommand("SELECT", "\(settings.database)"))
        let login = settings.password.map { password in
            RedisRequest(command: RedisCommand(["AUTH"] + [settings.user, password].compactMap(\.self)))
        }
        session.add([login, select, ping].compactMap(\.self))
        while !session.isIdle {
            if try session.work() { continue }
            let left = end - .now
            guard left > .zero else { throw RedisFailure(reason: "it does not answer in time") }
            if !session.isIdle {
                session.socket.wait(in: multi, sends: session.isSending, milliseconds: left.milliseconds)
            }
        }
        _ = session.takeAnsweredCount()
        // The rest of the text may repeat the password.
        if let text = Self.error(login) {
            let code = RedisError.readable(String(text.prefix { $0 != " " }))
            throw RedisFailure(reason: "it refuses the user or the password (\(code))")
        }
        if let text = Self.error(select) { throw RedisFailure(reason: "database \(settings.database): \(text)") }
        // A user may be one who must not send PING.
        if let text = Self.error(ping), !text.hasPrefix("NOPERM") { throw RedisFailure(reason: text) }
        return session
    }

    private static func error(_ request: RedisRequest?) -> String? {
        guard case .success(.error(let text))? = request?.call.resultIfEnded else { return nil }
        return RedisError.readable(text)
    }

    // MARK: Working

    /// Works until the inbox is closed, or the connection is lost: then its calls have failed, and it says why.
    private func serve(_ session: RedisSession) -> RedisFailure? {
        do throws(RedisFailure) {
            while true {
                if !session.isSending { session.add(inbox.take(answered: session.takeAnsweredCount())) }
                if session.isIdle, inbox.isClosed { return nil }
                if try session.work() { continue }
                try wait(session)
            }
        } catch {
            let place = "The connection to Redis at \(endpoint) was lost"
            session.fail(RedisError(.connectionLost, "\(place): \(error.reason)."))
            return error
        }
    }

    /// Waits for something to do.
    private func wait(_ session: RedisSession) throws(RedisFailure) {
        let left = session.isIdle ? .seconds(60) : session.quietSince + settings.answerTimeout - .now
        guard left > .zero else { throw RedisFailure(reason: "it has not answered for \(settings.answerTimeout)") }
        if inbox.mayWait(in: multi, takesCalls: !session.isSending) {
            session.socket.wait(in: multi, sends: session.isSending, milliseconds: left.milliseconds)
            inbox.doesNotWait()
        }
    }
}

/// The pauses between attempts to connect: longer and longer, and never the same for two machines.
struct RedisPauses {
    static let longest = Duration.seconds(2)
    private var upcoming = Duration.milliseconds(50)

    mutating func next() -> Duration {
        defer { upcoming = min(upcoming * 2, Self.longest) }
        return upcoming * Double.random(in: 0.5...1)
    }
}
