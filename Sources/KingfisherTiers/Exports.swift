// What users of this module need of the library's.

@_exported public import struct Kingfisher.LeasedTier
@_exported public import protocol Kingfisher.SharedLeases
@_exported public import protocol Kingfisher.SharedTier
