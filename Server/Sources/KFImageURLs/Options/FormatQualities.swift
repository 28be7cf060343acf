// Pairs of a format and its quality. For the option and for the setting.

enum FormatQualities {
    /// What is wrong with a list.
    struct Complaint: Error {
        let text: String
    }

    /// Reads format, quality, format, quality and so on.
    static func read(pairs values: [String]) -> Result<[FileFormat: Int], Complaint> {
        if values.allSatisfy(\.isEmpty) { return .success([:]) }
        guard values.count.isMultiple(of: 2) else { return .failure(Complaint(text: "a format has no quality")) }
        var qualities: [FileFormat: Int] = [:]
        for index in stride(from: 0, to: values.count, by: 2) {
            guard let format = FileFormat(name: values[index]) else {
                return .failure(Complaint(text: "\(quoted(values[index])) is no format"))
            }
            guard let quality = Value.integer(0...100).read(values[index + 1]) else {
                return .failure(
                    Complaint(text: "\(quoted(values[index + 1])) is no quality, which is an integer 0–100")
                )
            }
            qualities[format] = quality
        }
        return .success(qualities)
    }
}
