// The task priority for a download priority. For all loads.

extension TaskPriority {
    /// The priority of the tasks of a load: background below 0.25, utility below 0.5, medium below 0.75, and high.
    ///
    /// - Parameter downloadPriority: From 0 to 1; NaN counts as medium.
    init(downloadPriority: Float) {
        self =
            switch downloadPriority {
            case ..<0.25: .background
            case ..<0.5: .utility
            case 0.75...: .high
            default: .medium
            }
    }
}
