// The number of threads that work on pixels, for programs that set it.

import KFSupport

/// The threads of the process that decode, process and encode images. (Not in Kingfisher.)
public enum PixelThreads {
    /// How many there are, which is how many images are decoded at the same time.
    ///
    /// At first as many as processors, or what the `cpu.max` of the process's control groups (version 2) allows,
    /// rounded up: in a container with one and a half processors, two. A program sets fewer to keep processors for
    /// other work, or to bound the memory of images that are being decoded. At least one.
    ///
    /// May be set at any time, from any thread: a higher number holds from the next image on, a lower one once the
    /// threads that are too many have done what they are at. Frames of animations that are shown, writing files and
    /// downloads have threads of their own, and so have processors with a
    /// ``KingfisherParsedOptionsInfo/processingQueue``. An image on disk is read where it is decoded.
    public static var count: Int {
        get { WorkExecutor.cpu.threadCount }
        set { WorkExecutor.cpu.threadCount = newValue }
    }

    /// How many pieces of work wait for one of the threads.
    ///
    /// A server that has more waiting than it can do in time turns requests away.
    public static var queueLength: Int { WorkExecutor.cpu.waitingCount }
}
