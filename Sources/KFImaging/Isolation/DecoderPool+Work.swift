// What decoder processes are asked for, and how answers become values. For Codecs.

import Foundation
import KFSupport

extension DecoderPool {
    /// These decoders where they are to be used; nil where this process decodes.
    ///
    /// - Parameter isolation: The isolation that is wanted.
    /// - Returns: The pool.
    /// - Throws: ``ImagingError/isolationUnavailable(detail:)``.
    func forUse(_ isolation: DecodingIsolation) throws(ImagingError) -> DecoderPool? {
        if isolation == .inProcess { return nil }
        guard let obstacle = availability().obstacle else { return self }
        if isolation == .required { throw .isolationUnavailable(detail: obstacle) }
        say(obstacle)
        return nil
    }

    func info(_ file: File) throws(ImagingError) -> ImageInfo {
        try use(for: file) { process throws(DecoderFailure) in
            try process.ask(.info, about: file.data, file.limits) { answer in
                try answer.values.info(of: file.type, byteCount: file.data.count)
            }
        }
    }

    func exif(_ file: File) throws(ImagingError) -> Data? {
        try use(for: file) { process throws(DecoderFailure) in
            try process.ask(.exif, about: file.data, file.limits) { answer in
                try answer.values.optional { values throws(MalformedMessage) in try values.data() }
            }
        }
    }

    func image(_ file: File, _ options: DecodingOptions) throws(ImagingError) -> DecodedImage {
        try use(for: file) { process throws(DecoderFailure) in
            try process.ask(.decode(options), about: file.data, file.limits) { answer in
                try answer.image(file.limits)
            }
        }
    }

    /// The frames of an animation; nil for stills.
    func frames(_ file: File) throws(ImagingError) -> (any FrameDecoder)? {
        try use(for: file) { process throws(DecoderFailure) in
            guard let opened = try process.open(file) else { return nil }
            return IsolatedFrames(file, opened.values, in: self, OpenAnimation(process, opened.animation))
        }
    }
}

extension DecoderProcess {
    /// Opens an animation; nil for stills.
    func open(_ file: DecoderPool.File) throws(DecoderFailure) -> (animation: Int, values: AnimationValues)? {
        try ask(.open, about: file.data, file.limits) { answer in
            guard try answer.values.bool() else { return nil }
            return (try answer.values.count(), try answer.values.animation(file.limits))
        }
    }
}
