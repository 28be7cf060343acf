// Replacing and removing files of whose length others have to hear.

import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct TellingTests {
    let scratch: Scratch
    let directory: Directory
    let folder: Directory

    init() throws {
        scratch = try Scratch()
        directory = try Directory.create(scratch("cache"))
        folder = try Directory.create(scratch("folder"))
    }

    private func make(_ count: Int, _ path: String) throws {
        try Data(count: count).write(to: URL(fileURLWithPath: scratch(path)))
    }

    private func move(_ count: Int, to name: String) throws -> Int? {
        try make(count, "folder/new")
        return try folder.moveTelling("new", to: directory, as: name)
    }

    @Test func whatIsReplacedIsTold() throws {
        #expect(try move(3, to: "a") == 0)
        #expect(try move(5, to: "a") == 3)
        #expect(try move(0, to: "a") == 5)
        #expect(names(in: scratch("cache")) == ["a"])
        #expect(names(in: scratch("folder")) == [])
    }

    @Test func whatIsRemovedIsTold() throws {
        try make(3, "cache/a")
        #expect(try directory.removeTelling("a", by: folder) == 3)
        #expect(try directory.removeTelling("a", by: folder) == nil)
        #expect(names(in: scratch("folder")) == [])
    }

    @Test func aDirectoryInThePlaceOfAFileIsAnErrorAndStays() throws {
        try FileManager.default.createDirectory(atPath: scratch("cache/a"), withIntermediateDirectories: false)
        #expect(throws: StorageError.self) { try move(3, to: "a") }
        #expect(throws: StorageError.self) { try directory.removeTelling("a", by: folder) }
        #expect(names(in: scratch("cache")) == ["a"])
        #expect(names(in: scratch("folder")) == ["new"])
    }

    @Test func aLinkIsReplacedAndRemovedItself() throws {
        try make(100, "precious")
        for _ in 0..<2 { symlink(scratch("precious"), scratch("cache/a")) }
        #expect(try move(3, to: "a") == nil)
        #expect(try directory.status(of: "a")?.isRegularFile == true)
        symlink(scratch("precious"), scratch("cache/b"))
        #expect(try directory.removeTelling("b", by: folder) == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("precious"))).count == 100)
    }

    @Test func ofSeveralAtOnceNoTwoHearOfTheSameFile() async throws {
        let executor = WorkExecutor("kf.telling", threads: 4)
        let (directory, folder) = (directory, folder)
        // The bytes put there less those heard of, and how often somebody did not hear because others were faster.
        let (balance, unheard) = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for thread in 0..<4 {
                group.addTask {
                    try await executor.run { () async throws in
                        try (0..<200).reduce((0, 0)) { sum, step in
                            guard step % 4 != thread else {
                                return (sum.0 - (try directory.removeTelling("a", by: folder) ?? 0), sum.1)
                            }
                            let (name, count) = ("new \(thread)", 1 + (step &* 31 &+ thread) % 97)
                            if let file = try folder.create(name) { _ = file.write(Data(count: count)) }
                            let replaced = try folder.moveTelling(name, to: directory, as: "a")
                            return (sum.0 + count - (replaced ?? 0), sum.1 + (replaced == nil ? 1 : 0))
                        }
                    }
                }
            }
            return try await group.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
        }
        let left = try directory.status(of: "a").map { Int($0.st_size) } ?? 0
        #expect((0...97 * unheard).contains(balance - left))
        #expect(unheard < 100)
    }
}
