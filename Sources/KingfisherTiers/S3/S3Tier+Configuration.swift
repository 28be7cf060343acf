// Which bucket an S3Tier uses, and how. For users of S3Tier.

public import Foundation

extension S3Tier {
    /// Where the bucket stands in the address of an object.
    public enum Addressing: Hashable, Sendable {
        /// In the path: `https://s3.example.com/bucket/key`.
        case path
        /// In the host: `https://bucket.s3.example.com/key`.
        case virtualHost
    }

    /// Which bucket a tier uses, and how.
    public struct Configuration: Hashable, Sendable {
        /// The name of the bucket, which exists already.
        public var bucket: String
        /// The region of the bucket, which is part of every signature: `eu-central-1`, `auto` for R2, and `us-east-1` for
        /// most stores that have no regions.
        public var region: String
        /// The address of the store, with `http` or `https`, such as `https://minio.internal:9000`; nil is AWS.
        ///
        /// With `http` anybody on the way can read and change the values. The regions of AWS in China need it:
        /// `https://s3.cn-north-1.amazonaws.com.cn`, with ``Addressing/virtualHost``.
        public var endpoint: URL?
        /// The folder of the bucket in which the values lie; an empty text is the bucket itself.
        ///
        /// Programs with the same folder share their values. Rules that remove old objects name this folder.
        public var prefix: String
        /// Where the bucket stands in addresses.
        ///
        /// nil is the host for AWS, and the path for other stores, and for buckets with a dot in their names.
        public var addressing: Addressing?
        /// The largest value in bytes that is stored or read; 8 MiB unless it is set.
        public var maximumValueSize = 8 << 20
        /// How long the store may take to begin an answer, connecting included; 1.5 seconds unless it is set.
        ///
        /// One that takes longer has failed, and is left alone for a while.
        public var answerTimeout = Duration.milliseconds(1_500)
        /// How many bytes a second a value has to come with, on the whole; 1 MB unless it is set.
        ///
        /// A value that comes more slowly is given up a second later than it should have been there. That is no failure of
        /// the store.
        public var minimumRate = 1_000_000

        /// A configuration.
        ///
        /// - Parameters:
        ///   - bucket: The name of the bucket.
        ///   - region: The region of the bucket.
        ///   - endpoint: The address of the store; nil is AWS.
        ///   - prefix: The folder of the bucket in which the values lie.
        public init(bucket: String, region: String, endpoint: URL? = nil, prefix: String = "kingfisher") {
            (self.bucket, self.region, self.endpoint, self.prefix) = (bucket, region, endpoint, prefix)
        }
    }
}
