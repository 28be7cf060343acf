// The images in folders, for `kf process --recursive` and `kf dupes`.

import Foundation
import KFImaging

/// One image to work on.
struct ProcessInput: Sendable {
    /// The source, as on the command line.
    let text: String
    /// The directory it is in: as it was typed; where folders may be named, below the folder that was.
    let directory: String
    /// Whether it was found in a folder.
    var isFound = false
    /// Why there is nothing to work on.
    var problem: Failure?

    /// What the name of its result is made of.
    func resultName(in destination: OutputDestination) -> ResultName {
        let source = try? SourceArgument(text)
        let stem = source?.baseName(longest: destination.longestStem) ?? ""
        return ResultName(stem: stem, directory: directory, source: source?.typedPath)
    }

    /// Its file; nil where the argument names no file.
    var identity: FileIdentity? { (try? SourceArgument(text))?.typedPath.flatMap(FileIdentity.init) }

    /// A source that was named itself.
    init(_ text: String) {
        self.text = text
        directory = (try? SourceArgument(text))?.typedPath?.directory ?? ""
    }

    /// A source in a folder.
    init(_ text: String, in directory: String, problem: Failure? = nil) {
        (self.text, self.directory, self.problem) = (text, directory, problem)
    }
}

/// A folder whose images are worked on.
struct InputFolder {
    /// Which images a folder stands for.
    enum Depth {
        /// None: it may not be named.
        case refused
        /// Those in it.
        case flat
        /// Those in it, and in all folders below.
        case all
    }

    private let path: String
    private let depth: Depth
    /// The folder that results go to, which holds no sources.
    private let output: FileIdentity?

    /// The images that arguments name: a folder stands for those in it, in the order of their names.
    ///
    /// - Parameters:
    ///   - arguments: The arguments.
    ///   - depth: What folders stand for.
    ///   - output: The folder that results go to.
    /// - Returns: The images; one with a problem for every folder that cannot be read or has none.
    static func images(_ arguments: [String], depth: Depth, output: String? = nil) -> [ProcessInput] {
        arguments.flatMap { argument in
            guard let path = (try? SourceArgument(argument))?.typedPath, isFolder(path) else {
                return [depth == .refused ? ProcessInput(argument) : ProcessInput(argument, in: "")]
            }
            guard depth != .refused else {
                return [ProcessInput(argument, in: "", problem: .isFolder("--recursive processes the images in it"))]
            }
            let folder = InputFolder(path: path, depth: depth, output: output.flatMap(FileIdentity.init))
            let images = folder.images(below: "")
            let problem = Failure.isFolder("there is no file with an image's extension in it")
            return images.isEmpty ? [ProcessInput(argument, in: "", problem: problem)] : images
        }
    }

    private func images(below directory: String) -> [ProcessInput] {
        let folder = [path, directory].filter { !$0.isEmpty }.joined(separator: path.hasSuffix("/") ? "" : "/")
        guard let names = Self.names(in: folder) else {
            let problem = Failure.isFolder("cannot be read: \(String(cString: strerror(errno)))")
            return [ProcessInput(folder, in: directory, problem: problem)]
        }
        return names.sorted().flatMap { name -> [ProcessInput] in
            let file = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            if Self.isFolder(file, followingLinks: false) {
                if depth == .flat { return [] }
                if let output, FileIdentity(file) == output { return [] }
                return images(below: directory.isEmpty ? name : "\(directory)/\(name)")
            }
            let ending = name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? ""
            guard ImageContentType(fileExtension: ending) != nil else { return [] }
            var input = ProcessInput(file, in: directory)
            input.isFound = true
            return [input]
        }
    }

    /// The names in a folder but those that begin with a point; nil with `errno` if it cannot be read.
    private static func names(in folder: String) -> [String]? {
        guard let directory = opendir(folder.systemName) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(systemName: $0.prefix { $0 != 0 }) }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// Whether there is a folder; a folder that is only linked to below another one does not count, so that no walk is
    /// endless.
    private static func isFolder(_ path: String, followingLinks: Bool = true) -> Bool {
        var status = stat()
        let code = followingLinks ? stat(path.systemName, &status) : lstat(path.systemName, &status)
        return code == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
