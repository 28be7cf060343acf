// The frames of an animation that are in memory, and those that are to be. A `FrameAnimator` decodes them.

import Foundation
import KFImaging

/// One slot for each frame: how long it is shown, and its image while that is needed.
///
/// The current frame and some that follow it are needed; after the last frame follows the first.
struct FrameSlots: Sendable {
    private enum FrameContent {
        case missing
        case present(Image)
        /// It could not be decoded, and is not tried again until its slot has been emptied.
        case broken
    }

    private struct Slot {
        let delay: TimeInterval
        var content = FrameContent.missing
    }

    /// How many frames after the current one are needed.
    private let ahead: Int
    private var slots: [Slot] = []
    private var current = 0
    /// Frames that were left, in slots not emptied yet.
    private var left: [Int] = []

    /// No slots yet.
    ///
    /// - Parameter preloadCount: How many frames after the current one are needed; 0 and less mean the next one alone.
    init(preloadCount: Int) { ahead = max(1, preloadCount) }

    /// Whether slots have been made.
    var isPrepared: Bool { !slots.isEmpty }

    /// Makes the slots, without images.
    ///
    /// - Parameter delays: How long each frame is shown, in seconds; values that are not positive numbers count as 0.
    mutating func prepare(_ delays: [TimeInterval]) { slots = delays.map { Slot(delay: $0 > 0 ? $0 : 0) } }

    /// How long a frame is shown, in seconds; infinite when there is no slot for it.
    func delay(of index: Int) -> TimeInterval { slots.indices.contains(index) ? slots[index].delay : .infinity }

    /// How long all frames take, none counted for more than a second.
    var loopDuration: TimeInterval { slots.reduce(0) { $0 + min($1.delay, 1) } }

    /// The image of a frame, if it is in memory.
    func image(at index: Int) -> Image? {
        guard slots.indices.contains(index), case .present(let image) = slots[index].content else { return nil }
        return image
    }

    /// Whether a frame is the current one, or follows it soon enough.
    func isWanted(_ index: Int) -> Bool {
        slots.indices.contains(index) && (index - current + slots.count) % slots.count <= ahead
    }

    /// The first needed frame whose image is missing.
    var firstMissing: Int? {
        guard isPrepared else { return nil }
        for offset in 0...min(ahead, slots.count - 1) {
            let index = (current + offset) % slots.count
            if case .missing = slots[index].content { return index }
        }
        return nil
    }

    /// Whether there is a slot to be emptied or filled.
    var needsWork: Bool { !left.isEmpty || firstMissing != nil }

    /// Makes another frame the current one.
    ///
    /// The slots of those before it, from the current one on, are to be emptied; that is recorded at once, so that it
    /// makes no difference how much later it is done.
    mutating func move(to index: Int) {
        guard slots.indices.contains(index) else { return }
        while current != index {
            // When all are needed, none has to be emptied.
            if ahead < slots.count - 1 { left.append(current) }
            current = (current + 1) % slots.count
        }
    }

    /// Empties the slots of frames that were left and are not needed again, and returns their images.
    mutating func removeLeft() -> [Image] {
        let unneeded = left.filter { !isWanted($0) }
        left = []
        return unneeded.compactMap { empty($0) }
    }

    /// Empties all slots, or all but the current one, and returns their images.
    mutating func removeAll(keepingCurrent: Bool) -> [Image] {
        left = []
        return slots.indices.compactMap { keepingCurrent && $0 == current ? nil : empty($0) }
    }

    private mutating func empty(_ index: Int) -> Image? {
        let image = image(at: index)
        slots[index].content = .missing
        return image
    }

    /// Fills a slot with a decoded image, nil when decoding failed; returns whether the frame is still needed.
    mutating func fill(_ index: Int, with image: Image?) -> Bool {
        guard isWanted(index) else { return false }
        slots[index].content = image.map { .present($0) } ?? .broken
        return true
    }
}
