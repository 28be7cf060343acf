// Many calls of an async function, some of them at a time. For the rows of downloads.

/// Calls a function with every number from 0 on, and returns when all calls have.
///
/// - Parameters:
///   - count: The number of calls.
///   - inFlight: How many of them are under way at once.
///   - work: The function.
/// - Throws: The first error of the function.
func concurrently(
    _ count: Int,
    inFlight: Int,
    _ work: @escaping @Sendable (Int) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for first in 0..<inFlight {
            group.addTask { @concurrent in
                for number in stride(from: first, to: count, by: inFlight) { try await work(number) }
            }
        }
        try await group.waitForAll()
    }
}
