// What a URL asks for, as a value. The parser makes it; the geometry, the cache keys and the handlers read it.

package import struct Foundation.Date

/// A source, and what is done with it until it is sent.
///
/// A new plan has the defaults of all options; the table of options reads them from here.
package struct ImagePlan: Hashable, Sendable {
    /// The source as text; what of it is not UTF-8 is replaced.
    package var source: String {
        get { String(decoding: sourceBytes, as: UTF8.self) }
        set { sourceBytes = Array(newValue.utf8) }
    }
    /// The source, decoded once and with the base URL in front.
    ///
    /// Names of files need not be UTF-8, and two that are equal as text (`é` as one character and as two) are two
    /// files.
    package var sourceBytes: [UInt8] = []
    package var resizing = Resizing()
    package var canvas = Canvas()
    /// What a crop keeps: of the source, unless ``Crop/ownGravity`` is set, and of the result.
    package var gravity = Gravity()
    package var crop = Crop()
    package var trim = Trim()
    /// In pixels, before `dpr`.
    package var padding = Sides()
    package var turning = Turning()
    /// Transparent parts are laid on it; nil keeps them, where the format can.
    package var background: Color?
    package var effects = Effects()
    package var watermark = Watermark()
    package var output = Output()
    package var metadata = Metadata()
    package var delivery = Delivery()
    /// What the URL changes of the server's limits.
    package var limits = Limits()

    package init() {}
}

extension ImagePlan {
    /// The size that is asked for, and how it is reached.
    package struct Resizing: Hashable, Sendable {
        package enum Kind: String, CaseIterable, Hashable, Sendable {
            /// Within the box, in the source's proportions.
            case fit
            /// Covers the box; what stands out is cut off.
            case fill
            /// The same, in the box' proportions even if the source is smaller.
            case fillDown = "fill-down"
            /// Exactly the box, in its proportions.
            case force
            /// `fill` if source and box have the same orientation, otherwise `fit`.
            case auto
        }

        package var kind = Kind.fit
        /// In pixels; 0 follows from the other side.
        package var width = 0
        package var height = 0
        package var minWidth = 0
        package var minHeight = 0
        package var zoomX = 1.0
        package var zoomY = 1.0
        /// Pixels of the result for each that is asked for.
        package var dpr = 1.0
        /// Whether the result may be larger than the source.
        package var enlarges = false
    }

    /// What is added around the image to reach a size.
    package struct Canvas: Hashable, Sendable {
        /// Whether the result has at least the size asked for.
        package var extends = false
        package var gravity = Gravity()
        /// Whether the result has the proportions asked for.
        package var extendsToAspectRatio = false
        package var aspectRatioGravity = Gravity()
    }

    /// The part of the source that is used.
    package struct Crop: Hashable, Sendable {
        /// Pixels of the turned source from 1 on, below 1 relative to it; 0 is all.
        package var width = 0.0
        package var height = 0.0
        /// Nil where the plan's gravity counts for this crop, too.
        package var ownGravity: Gravity?

        /// The crop's gravity for arguments that set a part of it.
        package var editedGravity: Gravity {
            get { ownGravity ?? Gravity() }
            set { ownGravity = newValue }
        }
    }

    /// A border of one colour that is cut off.
    package struct Trim: Hashable, Sendable {
        /// How much colours may differ from the border's; nil does not trim.
        package var threshold: Double?
        /// Nil is the colour of the pixel at the top left.
        package var color: Color?
        /// Whether as much is cut off left as right.
        package var isEqualHorizontally = false
        /// Whether as much is cut off above as below.
        package var isEqualVertically = false
    }

    /// Four lengths in pixels.
    package struct Sides: Hashable, Sendable {
        package var top = 0
        package var right = 0
        package var bottom = 0
        package var left = 0

        package init(top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0) {
            (self.top, self.right, self.bottom, self.left) = (top, right, bottom, left)
        }

        /// What the first of the arguments in CSS' order sets.
        var all: Int {
            get { top }
            set { self = Sides(top: newValue, right: newValue, bottom: newValue, left: newValue) }
        }

        /// What the second one sets.
        var horizontal: Int {
            get { right }
            set { (right, left) = (newValue, newValue) }
        }
    }

    /// How the image is turned: by the source's orientation first, then by the rotation, then by the flips.
    package struct Turning: Hashable, Sendable {
        /// Clockwise, in degrees.
        package enum Rotation: Int, CaseIterable, Hashable, Sendable {
            case none = 0
            case quarter = 90
            case half = 180
            case threeQuarters = 270
        }

        package var followsOrientation = true
        package var rotation = Rotation.none
        package var flipsHorizontally = false
        package var flipsVertically = false
    }

    /// What is done to the pixels of the result.
    package struct Effects: Hashable, Sendable {
        /// Sigma in pixels; 0 does nothing.
        package var blur = 0.0
        package var sharpen = 0.0
        /// The side of the squares in pixels; 0 and 1 do nothing.
        package var pixelate = 0
    }

    /// The server's watermark image on the result.
    package struct Watermark: Hashable, Sendable {
        package enum Position: String, CaseIterable, Hashable, Sendable {
            case center = "ce"
            case north = "no"
            case south = "so"
            case east = "ea"
            case west = "we"
            case northEast = "noea"
            case northWest = "nowe"
            case southEast = "soea"
            case southWest = "sowe"
            case tiled = "re"
            case chessboard = "ch"
        }

        /// From 0, which draws none, to 1.
        package var opacity = 0.0
        package var position = Position.center
        /// As those of ``Gravity``; for copies the space between them.
        package var x = 0.0
        package var y = 0.0
        /// Of the result's size, within which it is fitted; 0 is the watermark's own size.
        package var scale = 0.0
    }

    /// The file that is made.
    package struct Output: Hashable, Sendable {
        /// Nil lets the server choose.
        package var format: FileFormat?
        /// From 1 to 100; 0 is the server's.
        package var quality = 0
        /// For formats whose quality the URL names.
        package var formatQuality: [FileFormat: Int] = [:]
        package var autoQuality = AutoQuality()
        /// The most bytes, if a lower quality reaches them; 0 is no limit.
        package var maxBytes = 0
        /// Whether the source is sent as it is, whatever it is.
        package var isRaw = false
        /// Sources of these formats are sent as they are, unless another format is named.
        package var keptFormats: Set<FileFormat> = []
    }

    /// What is taken over from the source beside the pixels.
    package struct Metadata: Hashable, Sendable {
        package var isStripped = true
        package var keepsCopyright = true
        package var stripsColorProfile = true
        package var preservesHDR = false
        package var usesThumbnail = false
    }

    /// What changes the answer, but not how the image is made.
    package struct Delivery: Hashable, Sendable {
        /// Which version of the source it is; nothing of another version is used.
        package var cacheBuster = ""
        /// Seconds since 1970; 0 is never.
        package var expires = 0
        /// Without extension; nil takes the source's.
        package var filename: String?
        package var isAttachment = false
        /// Names by which results can be purged together.
        package var cacheTags: Set<String> = []

        /// When the URL ends to be valid.
        package var expirationDate: Date? {
            expires > 0 ? Date(timeIntervalSince1970: Double(expires)) : nil
        }
    }

    /// Limits that the URL sets in place of the server's; nil where it does not.
    package struct Limits: Hashable, Sendable {
        package var sourceMegapixels: Double?
        package var sourceBytes: Int?
        package var animationFrames: Int?
        package var frameMegapixels: Double?
        package var resultDimension: Int?
    }
}
