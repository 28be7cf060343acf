//! Modifiers of requests and of bytes, and an observer of what arrives.
import Foundation
import FoundationNetworking
import Kingfisher

struct Authorizing: ThrowingImageDownloadRequestModifier {
    let token: @Sendable () async throws -> String

    func modified(for request: URLRequest) async throws -> URLRequest {
        var request = request
        request.setValue("Bearer \(try await token())", forHTTPHeaderField: "Authorization")
        return request
    }
}

let options: KingfisherOptionsInfo = [
    .requestModifier(Authorizing { "token" }),
    .dataModifier(AnyDataModifier { data, _ in Data(base64Encoded: data) }),
    .onDataReceived { task, data in print(task.originalURL?.path ?? "", data.count) },
]
