// What a program asks of a decoder. Small enough for one message; the bytes of the file lie in shared memory.

import Foundation

/// A request to a decoder.
package struct DecoderRequest {
    /// What is to be done.
    package enum Work {
        /// Read the header.
        case info
        /// Find the EXIF block.
        case exif
        /// Decode the first image.
        case decode(DecodingOptions)
        /// Open an animation, if it is one, for its frames to be decoded.
        case open
        /// Decode a frame of an animation that has been opened.
        case frame(Int, animation: Int)
        /// Write the last answer again, into the larger memory that comes with this request.
        case repeatAnswer
    }

    package var number: Int
    package var work: Work
    package var limits: ImageDecodingLimits
    /// How many bytes of the memory for files are the file.
    package var byteCount = 0
    /// The numbers of animations that the decoder can close.
    package var closed: [Int] = []
    /// Whether the message has new memory for files, and new memory for answers, in this order.
    package var bringsInput = false
    package var bringsOutput = false

    init(_ number: Int, _ work: Work, _ limits: ImageDecodingLimits) {
        (self.number, self.work, self.limits) = (number, work, limits)
    }

    var message: [UInt8] {
        var writer = MessageWriter()
        writer.add(number)
        writer.add(limits)
        writer.add(byteCount)
        writer.add(bringsInput)
        writer.add(bringsOutput)
        writer.add(closed.count)
        for animation in closed { writer.add(animation) }
        switch work {
        case .info: writer.add(0)
        case .exif: writer.add(1)
        case .decode(let options):
            writer.add(2)
            writer.add(options)
        case .open: writer.add(3)
        case .frame(let index, let animation):
            writer.add(4)
            writer.add(index)
            writer.add(animation)
        case .repeatAnswer: writer.add(5)
        }
        return writer.bytes
    }

    /// The request that a message is; nil for anything else.
    package init?(_ message: [UInt8]) {
        do {
            var reader = MessageReader(message)
            try self.init(reading: &reader)
        } catch {
            return nil
        }
    }

    private init(reading reader: inout MessageReader) throws(MalformedMessage) {
        number = try reader.count()
        let limits = try reader.limits()
        self.limits = limits
        byteCount = try reader.count()
        bringsInput = try reader.bool()
        bringsOutput = try reader.bool()
        for _ in 0..<(try reader.int(in: 0...Self.mostClosed)) { closed.append(try reader.count()) }
        work =
            switch try reader.int(in: 0...5) {
            case 0: .info
            case 1: .exif
            case 2: .decode(try reader.options(limits))
            case 3: .open
            case 4: .frame(try reader.count(), animation: try reader.count())
            default: .repeatAnswer
            }
    }

    /// How many animations a request can close.
    static let mostClosed = 64
}
