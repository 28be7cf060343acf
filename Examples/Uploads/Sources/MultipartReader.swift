// The first file of a form, read as it arrives: `multipart/form-data` of RFC 7578, as browsers send it.
import Foundation

struct MultipartReader {
    /// How many bytes have been read.
    private(set) var byteCount = 0
    /// The name that the client has given the file.
    private(set) var fileName: String?
    /// The line between parts; the body begins as if a line had ended before it.
    private let delimiter: Data
    private var state = State.between
    /// What has not been looked at yet, or is not complete.
    private var rest = Data("\r\n".utf8)

    private enum State {
        /// Before a part's header, with other parts of the form.
        case between
        case inFile(Data)
        case done(Data)
        /// A header has no end.
        case failed
    }

    /// Nil for another type, and without a boundary.
    init?(contentType: String) {
        let fields = contentType.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        guard fields.first?.lowercased() == "multipart/form-data",
            let field = fields.first(where: { $0.lowercased().hasPrefix("boundary=") })
        else { return nil }
        let boundary = field.dropFirst("boundary=".count).trimmingCharacters(in: ["\""])
        guard (1...70).contains(boundary.utf8.count) else { return nil }
        delimiter = Data("\r\n--\(boundary)".utf8)
    }

    /// The file, once all of it was read.
    var file: Data? { if case .done(let data) = state { data } else { nil } }

    /// Reads more bytes of the body.
    mutating func read(_ bytes: some Collection<UInt8>) {
        byteCount += bytes.count
        switch state {
        case .done, .failed: return
        case .between, .inFile: break
        }
        rest.append(contentsOf: bytes)
        while step() {}
    }

    /// Takes what is complete from the rest; false if more bytes are needed.
    private mutating func step() -> Bool {
        switch state {
        case .between:
            guard let line = rest.range(of: delimiter) else {
                keepEnd()
                return false
            }
            let header = rest[line.upperBound...]
            guard let end = header.range(of: Data("\r\n\r\n".utf8)) else {
                if header.count > 16_384 { (rest, state) = (Data(), .failed) }
                return false
            }
            let text = String(decoding: header[..<end.lowerBound], as: UTF8.self)
            if let match = text.firstMatch(of: #/filename="([^"]*)"/#) {
                (fileName, state) = (String(match.output.1), .inFile(Data()))
            }
            rest = Data(rest[end.upperBound...])
            return true
        case .inFile(var file):
            state = .between
            if let end = rest.range(of: delimiter) {
                file.append(rest[..<end.lowerBound])
                state = .done(file)
            } else {
                let safe = max(0, rest.count - delimiter.count)
                file.append(rest.prefix(safe))
                rest = Data(rest.dropFirst(safe))
                state = .inFile(file)
            }
            return false
        case .done, .failed: return false
        }
    }

    /// Forgets what cannot be a part of the delimiter.
    private mutating func keepEnd() { rest = Data(rest.suffix(delimiter.count)) }
}
