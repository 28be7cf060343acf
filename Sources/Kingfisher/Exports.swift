// What `import Kingfisher` brings along, and the names users know things by. Holds no code.

@_exported public import FoundationNetworking
@_exported public import KFImaging
@_exported public import KFStorage
@_exported public import KFTransport

@_exported public import enum KFSupport.MemoryPressureLevel

/// The image type of this platform.
public typealias KFCrossPlatformImage = Image

/// The colour type of this platform.
public typealias KFCrossPlatformColor = Color
