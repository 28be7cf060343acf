// The names of the ways to lay one image over another.

/// How an image and the one below it become one.
///
/// The raw values are CoreGraphics'; cache identifiers hold them. Below, the source is the image and the destination
/// the one it is laid on. The modes up to ``luminosity`` mix colours where both are, and leave either alone where the
/// other is transparent. The others, the rules of Porter and Duff, say which of the two remains where.
public enum CGBlendMode: Int32, Sendable, Hashable, CaseIterable {
    /// The source over the destination.
    case normal = 0
    /// The product: never lighter than either.
    case multiply = 1
    /// The product of the inverses, inverted: never darker than either.
    case screen = 2
    /// Multiplies where the destination is dark, screens where it is light.
    case overlay = 3
    /// The darker of the two, for each component.
    case darken = 4
    /// The lighter of the two, for each component.
    case lighten = 5
    /// Brightens the destination to reflect the source.
    case colorDodge = 6
    /// Darkens the destination to reflect the source.
    case colorBurn = 7
    /// Darkens or lightens softly, as the source says.
    case softLight = 8
    /// Multiplies where the source is dark, screens where it is light.
    case hardLight = 9
    /// The distance between the two.
    case difference = 10
    /// Like the difference, with less contrast.
    case exclusion = 11
    /// The source's hue with the destination's saturation and luminosity.
    case hue = 12
    /// The source's saturation with the destination's hue and luminosity.
    case saturation = 13
    /// The source's hue and saturation with the destination's luminosity.
    case color = 14
    /// The source's luminosity with the destination's hue and saturation.
    case luminosity = 15
    /// Nothing remains.
    case clear = 16
    /// The source alone.
    case copy = 17
    /// The source where the destination is.
    case sourceIn = 18
    /// The source where the destination is not.
    case sourceOut = 19
    /// The source where the destination is, over the destination.
    case sourceAtop = 20
    /// The source below the destination.
    case destinationOver = 21
    /// The destination where the source is.
    case destinationIn = 22
    /// The destination where the source is not.
    case destinationOut = 23
    /// The destination where the source is, over the source.
    case destinationAtop = 24
    /// Either, where the other is not.
    case xor = 25
    /// The sum of the two, less one: black is the limit.
    case plusDarker = 26
    /// The sum of the two: white is the limit.
    case plusLighter = 27
}

/// The same ways as ``CGBlendMode``, under the names and raw values of AppKit; cache identifiers hold these too.
public enum NSCompositingOperation: UInt, Sendable, Hashable, CaseIterable {
    /// Nothing remains.
    case clear = 0
    /// The source alone.
    case copy = 1
    /// The source over the destination.
    case sourceOver = 2
    /// The source where the destination is.
    case sourceIn = 3
    /// The source where the destination is not.
    case sourceOut = 4
    /// The source where the destination is, over the destination.
    case sourceAtop = 5
    /// The source below the destination.
    case destinationOver = 6
    /// The destination where the source is.
    case destinationIn = 7
    /// The destination where the source is not.
    case destinationOut = 8
    /// The destination where the source is, over the source.
    case destinationAtop = 9
    /// Either, where the other is not.
    case xor = 10
    /// The sum of the two, less one: black is the limit.
    case plusDarker = 11
    /// Another name of ``sourceOver``.
    case highlight = 12
    /// The sum of the two: white is the limit.
    case plusLighter = 13
    /// The product: never lighter than either.
    case multiply = 14
    /// The product of the inverses, inverted: never darker than either.
    case screen = 15
    /// Multiplies where the destination is dark, screens where it is light.
    case overlay = 16
    /// The darker of the two, for each component.
    case darken = 17
    /// The lighter of the two, for each component.
    case lighten = 18
    /// Brightens the destination to reflect the source.
    case colorDodge = 19
    /// Darkens the destination to reflect the source.
    case colorBurn = 20
    /// Darkens or lightens softly, as the source says.
    case softLight = 21
    /// Multiplies where the source is dark, screens where it is light.
    case hardLight = 22
    /// The distance between the two.
    case difference = 23
    /// Like the difference, with less contrast.
    case exclusion = 24
    /// The source's hue with the destination's saturation and luminosity.
    case hue = 25
    /// The source's saturation with the destination's hue and luminosity.
    case saturation = 26
    /// The source's hue and saturation with the destination's luminosity.
    case color = 27
    /// The source's luminosity with the destination's hue and saturation.
    case luminosity = 28

    /// The blend mode that does the same.
    package var blendMode: CGBlendMode {
        switch self {
        case .clear: .clear
        case .copy: .copy
        case .sourceOver, .highlight: .normal
        case .sourceIn: .sourceIn
        case .sourceOut: .sourceOut
        case .sourceAtop: .sourceAtop
        case .destinationOver: .destinationOver
        case .destinationIn: .destinationIn
        case .destinationOut: .destinationOut
        case .destinationAtop: .destinationAtop
        case .xor: .xor
        case .plusDarker: .plusDarker
        case .plusLighter: .plusLighter
        case .multiply: .multiply
        case .screen: .screen
        case .overlay: .overlay
        case .darken: .darken
        case .lighten: .lighten
        case .colorDodge: .colorDodge
        case .colorBurn: .colorBurn
        case .softLight: .softLight
        case .hardLight: .hardLight
        case .difference: .difference
        case .exclusion: .exclusion
        case .hue: .hue
        case .saturation: .saturation
        case .color: .color
        case .luminosity: .luminosity
        }
    }
}
