// How processors treat animations and vector images, as options say it.

/// How processors treat animations.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum AnimatedProcessingPolicy: Sendable, Hashable {
    /// A still: the processed first frame.
    case firstFrame
    /// An animation: every frame is processed when it is shown.
    ///
    /// The processed first frame stands for the animation; the number of frames, how long they are shown and how often
    /// do not change. Such images are cached under keys of their own.
    case transformFrames
    /// An animation as it came: it is not processed, and stills are. (Not in Kingfisher.)
    ///
    /// With ``KingfisherParsedOptionsInfo/onlyLoadFirstFrame`` it is a still. Such images are cached under keys of
    /// their own.
    case skip
}

/// How processors treat vector images: SVG, in a build with that package trait. (Not in Kingfisher.)
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum VectorProcessingPolicy: Sendable, Hashable {
    /// They are drawn, and the drawing is processed.
    case process
    /// They are delivered as they are drawn at their own size; other images are processed.
    ///
    /// Such images are cached under keys of their own.
    case skip
}
