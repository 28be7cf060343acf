// What each path is answered with. For the responder.

import Foundation
import HTTPTypes
import Hummingbird
package import KFImageURLs
import Kingfisher
import Logging
import NIOCore

/// All that the server does, behind one function.
package final class ImageRoutes: Sendable {
    package let configuration: ServerConfiguration
    package let clients = ClientWatch()
    package let slots: RenderingSlots
    package let metrics = ServerMetrics()
    let renderer: any Rendering
    let parser: PathParser
    let answers: ImageAnswers
    /// What uploads take of the memory until they have become results.
    package let uploadMemory: UploadMemory
    let logger: Logger
    private let hotRequests = HotRequests()
    private let isDeveloped: Bool

    init(configuration: ServerConfiguration, renderer: any Rendering, logger: Logger, isDeveloped: Bool) {
        (self.configuration, self.renderer) = (configuration, renderer)
        (self.logger, self.isDeveloped) = (logger, isDeveloped)
        slots = RenderingSlots(limit: configuration.mostMakings(workers: PixelThreads.count)) { renderer.isMemoryFull }
        parser = PathParser(settings: configuration.urls)
        uploadMemory = UploadMemory(limit: renderer.maxSourceBytes)
        answers = ImageAnswers(configuration: configuration, showsReasons: configuration.showsReasons || isDeveloped)
    }

    func respond(to request: Request, on connection: any Channel) async -> Response {
        switch request.method {
        case .get: return await get(request.head, on: connection)
        case .head: return await get(request.head, on: connection).createHeadResponse()
        case .options: return answers.methods
        case .purge: return await purge(request)
        case .post where name(request.head.path ?? "") == "/purge": return await purge(request)
        case .post where configuration.takesUploads: return await upload(request, on: connection)
        default: return .text("Method Not Allowed", status: .methodNotAllowed, [.allow: answers.methodNames])
        }
    }

    /// The path of what is no image, also behind the prefix; without a query.
    private func name(_ path: String) -> Substring {
        let path = path[..<(path.utf8.firstIndex(of: UInt8(ascii: "?")) ?? path.endIndex)]
        let prefix = configuration.urls.prefix
        return !prefix.isEmpty && path.hasPrefix(prefix + "/") ? path.dropFirst(prefix.count) : path
    }

    private func get(_ request: HTTPRequest, on connection: any Channel) async -> Response {
        let path = request.path ?? ""
        switch name(path) {
        case "/health":
            return await health
        case let other where !configuration.healthPath.isEmpty && other == configuration.healthPath:
            return await health
        case "/metrics" where configuration.metricsAddress == nil:
            return metricsPage
        case "/" where isDeveloped:
            let page = FormPage.html(configuration.urls, takesUploads: configuration.takesUploads)
            return .text(page, type: "text/html; charset=utf-8", [.contentSecurityPolicy: FormPage.policy])
        case "/", "":
            return .text(LandingPage.html, type: "text/html; charset=utf-8")
        default:
            return await image(path, request, on: connection)
        }
    }

    /// Balancers take a server that can make nothing for one that is away.
    private var health: Response {
        get async {
            // Where decoders could not be started that is tried again, which takes a while.
            let (summary, isUsable) = await withCheckedContinuation { answer in
                DispatchQueue.global().async {
                    let isolation = ImageDecodingLimits.default.isolation
                    let summary = DecodingIsolation.summary(of: isolation)
                    let isUsable = isolation != .required || DecodingIsolation.status.obstacle == nil
                    answer.resume(returning: (summary, isUsable))
                }
            }
            // The first words are those that programs which watch servers of this kind look for.
            let first = isUsable ? "imgproxy is running" : "No image can be made."
            return .text("\(first)\nDecoders: \(summary)\n", status: isUsable ? .ok : .serviceUnavailable)
        }
    }

    /// What is answered where metrics have an address of their own.
    func respondWithMetrics(to request: Request) -> Response {
        let isAsked = name(request.head.path ?? "") == "/metrics"
        return isAsked ? metricsPage : .text("Only /metrics is here.", status: .notFound)
    }

    private var metricsPage: Response { .text(metricsText, type: "text/plain; version=0.0.4; charset=utf-8") }

    private var metricsText: String {
        let (makings, waiting) = slots.counts
        let tier = renderer.tierStatistics
        var gauges = [
            ("kf_makings", "Results that are made, or wait for it.", makings),
            ("kf_waiting_requests", "Requests that wait for these.", waiting),
            ("kf_pixel_queue_length", "Work that waits for the processors.", PixelThreads.queueLength),
        ]
        if let tier {
            gauges.append(("kf_tier_available", "Whether the shared tier is used.", tier.isAvailable ? 1 : 0))
        }
        let text = metrics.text(tier: tier, gauges: gauges)
        let namespace = configuration.metricsNamespace
        if namespace == "kf" { return text }
        return text.replacing(#/^(# HELP |# TYPE |)kf_/#.anchorsMatchLineEndings()) { "\($0.output.1)\(namespace)_" }
    }

    private func image(_ path: String, _ request: HTTPRequest, on connection: any Channel) async -> Response {
        var record = RequestRecord(identifier: requestIdentifier(of: request))
        var response: Response
        var cookies: String?
        do throws(RenderingError) {
            try checkSecret(of: request)
            let accept = accept(of: request)
            let isReload = configuration.sources.allowsReload && request.headerFields.asksForReload
            let known = isReload ? nil : hotRequests.find(path, accept: accept)
            let parsed = if let known { known.parsed } else { try parse(path) }
            cookies = configuration.sources.cookies(of: request, for: parsed.plan.sourceBytes)
            (record.source, record.warnings) = (parsed.plan.source, parsed.warnings)
            let served: ServedImage
            if cookies == nil, let image = known?.image() {
                served = ServedImage(image: image, origin: .memory)
            } else {
                var rendering = negotiated(parsed.plan, accept: accept, configuration)
                (rendering.cookies, rendering.isReload) = (cookies, isReload)
                served = try await serve(rendering, on: connection)
                if served.isHot {
                    let known = HotRequests.Known(parsed, renderer.memoryLookup(for: rendering))
                    hotRequests.keep(known, path: path, accept: accept)
                }
            }
            if let warning = served.image.warning { record.warnings.append(warning) }
            record.isDamaged = served.image.image.isDamaged
            (record.origin, record.error, record.byteCount) = (
                served.origin, served.error, served.image.image.data.count
            )
            response = answers.response(served, plan: parsed.plan, to: request, known: known)
        } catch {
            record.error = error
            response = answers.response(error)
        }
        if cookies != nil { response.headers.makePrivate() }
        response.headers.set(.requestIdentifier, record.identifier)
        record.status = response.status.code
        record.write(to: logger, metrics)
        return response
    }

    /// Throws unless a request has the secret, if there is one.
    func checkSecret(of request: HTTPRequest) throws(RenderingError) {
        guard let secret = configuration.secret, !request.headerFields.hasToken(secret) else { return }
        throw .withoutSecret
    }

    /// What the client accepts; nil where answers do not depend on it.
    func accept(of request: HTTPRequest) -> String? {
        configuration.output.negotiates ? request.headerFields[.accept] ?? "" : nil
    }

    func parse(_ path: String) throws(RenderingError) -> ParsedPath {
        do throws(RequestError) { return try parser.parse(path) } catch { throw RenderingError(error) }
    }

    private func serve(
        _ rendering: RenderingRequest,
        on connection: any Channel
    ) async throws(RenderingError) -> ServedImage {
        let deadline = NIODeadline.now() + .seconds(Int64(configuration.timeout))
        do throws(RenderingError) {
            return try await result(of: rendering, until: deadline, on: connection)
        } catch {
            let fallback = configuration.delivery.fallback
            guard fallback.isOwn || fallback.source != nil, error.isAboutTheImage else { throw error }
            var instead = rendering.plan
            // Of the server's own image it is the name.
            instead.source = fallback.isOwn ? "fallback" : fallback.source ?? ""
            var request = RenderingRequest(plan: instead, preferredFormats: rendering.preferredFormats)
            request.isFallback = fallback.isOwn
            guard var served = try? await result(of: request, until: deadline, on: connection) else { throw error }
            served.error = error
            return served
        }
    }

    private func result(
        of request: RenderingRequest,
        until deadline: NIODeadline,
        on connection: any Channel
    ) async throws(RenderingError) -> ServedImage {
        if let image = await renderer.cached(request) {
            if image.isStale { renew(request) }
            return ServedImage(image: image, origin: .cache(of: image))
        }
        guard let slot = slots.take(request) else { throw .tooManyRequests }
        defer { slot.endRequest() }
        let image = try await made(by: request, in: slot, until: deadline, on: connection)
        return ServedImage(image: image, origin: slot.isFirst ? .cache(of: image) : .shared)
    }

    /// The result that is made in a slot.
    func made(
        by request: RenderingRequest,
        in slot: RenderingSlot,
        until deadline: NIODeadline,
        on connection: any Channel
    ) async throws(RenderingError) -> RenderedImage {
        let (renderer, metrics) = (renderer, metrics)
        return try await making(until: deadline, on: connection) {
            seconds async throws(RenderingError) -> RenderedImage in
            let image = try await renderer.render(request, in: slot, within: seconds)
            if let times = image.times { metrics.observe(times) }
            return image
        }
    }

    /// What is made, unless the time is over or the client leaves before.
    ///
    /// - Parameters:
    ///   - deadline: When the time is over.
    ///   - connection: The client's.
    ///   - make: Makes it, in so many seconds.
    /// - Returns: What was made.
    /// - Throws: Why there is nothing.
    func making<Value: Sendable>(
        until deadline: NIODeadline,
        on connection: any Channel,
        _ make: @escaping @Sendable (_ seconds: Double) async throws(RenderingError) -> Value
    ) async throws(RenderingError) -> Value {
        let secondsLeft = Double((deadline - .now()).nanoseconds) / 1e9
        let metrics = metrics
        let outcome = await clients.outcome(until: deadline, on: connection) {
            () async -> Result<Value, RenderingError> in
            let started = ContinuousClock.now
            defer { metrics.observe(.making, ContinuousClock.now - started) }
            do throws(RenderingError) {
                return .success(try await make(secondsLeft))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// Renews a result that is sent though it is stale, if a slot is free for that; else a later request does.
    private func renew(_ request: RenderingRequest) {
        // Who has the slot already renews it.
        guard let slot = slots.take(request), slot.isFirst else { return }
        Task { [renderer] in
            await renderer.renew(request, in: slot)
            slot.endRequest()
        }
    }
}

extension RenderingError {
    /// Why a path is not served.
    init(_ error: RequestError) {
        self.init(status: error.status, kind: error.kind, reason: error.reason, subject: error.subject)
    }

    static let tooManyRequests = Self(
        status: 429,
        kind: "queue_full",
        reason:
            "As many results as KF_REQUESTS_QUEUE_SIZE allows are being made, or their sources take as much memory as"
            + " KF_REQUESTS_QUEUE_BYTES allows; try again later.",
        retryAfter: 1
    )

    /// The result would not be ready in time.
    static func overloaded(retryAfter seconds: Int) -> Self {
        Self(
            status: 429,
            kind: "overloaded",
            reason: "So much is being made that the result would not be ready within KF_TIMEOUT; try again later.",
            retryAfter: seconds
        )
    }

    static let timedOut = Self(status: 503, kind: "timeout", reason: "The result was not ready within KF_TIMEOUT.")
    static let clientLeft = Self(status: 499, kind: "client_left", reason: "The client left before it was answered.")

    /// Whether another image may be sent instead. (The status may be that of the source's server.)
    var isAboutTheImage: Bool { !["queue_full", "overloaded", "client_left", "cancelled", "timeout"].contains(kind) }
}
