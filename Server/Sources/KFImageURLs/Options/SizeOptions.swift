// The options about size, crop and canvas. A part of the table of options.

extension OptionTable {
    static let size: [ImageOption] = [
        ImageOption(
            "resize",
            "rs",
            group: .size,
            help: "Type, size, enlarging and extending in one.",
            arguments: [resizingType] + sizeArguments,
            check: { gravityComplaint($0, at: 5) }
        ),
        ImageOption(
            "size",
            "s",
            group: .size,
            help: "Size, enlarging and extending in one.",
            arguments: sizeArguments,
            check: { gravityComplaint($0, at: 4) }
        ),
        ImageOption(
            "resizing_type",
            "rt",
            group: .size,
            help:
                "How the size is reached: within it, covering it, covering it in its proportions, stretched, or fill for "
                + "sources of the box' orientation and otherwise fit.",
            arguments: [resizingType]
        ),
        ImageOption(
            "width",
            "w",
            group: .size,
            help: "Width in pixels; 0 follows from the height.",
            arguments: [width]
        ),
        ImageOption(
            "height",
            "h",
            group: .size,
            help: "Height in pixels; 0 follows from the width.",
            arguments: [height]
        ),
        ImageOption(
            "min-width",
            "mw",
            group: .size,
            help: "The least width; enlarges if it must.",
            arguments: [OptionArgument("width", .length, \.resizing.minWidth)]
        ),
        ImageOption(
            "min-height",
            "mh",
            group: .size,
            help: "The least height; enlarges if it must.",
            arguments: [OptionArgument("height", .length, \.resizing.minHeight)]
        ),
        ImageOption(
            "zoom",
            "z",
            group: .size,
            help: "Multiplies the size; one number is for both sides.",
            arguments: [
                OptionArgument("x", .positive(upTo: 1000), \.zoom),
                OptionArgument("y", .positive(upTo: 1000), \.resizing.zoomY, initial: "x"),
            ]
        ),
        ImageOption(
            "dpr",
            group: .size,
            help: "Multiplies size, paddings and offsets; lowered to what the source has unless it may be enlarged.",
            arguments: [OptionArgument("dpr", .positive(upTo: 1000), \.resizing.dpr)]
        ),
        ImageOption(
            "enlarge",
            "el",
            group: .size,
            help: "Whether the result may be larger than the source.",
            arguments: [enlarge]
        ),
    ]

    static let crop: [ImageOption] = [
        ImageOption(
            "extend",
            "ex",
            group: .crop,
            help: "Adds a canvas around results that are smaller than the size.",
            arguments: extendArguments,
            check: { gravityComplaint($0, at: 1) }
        ),
        ImageOption(
            "extend_aspect_ratio",
            "extend_ar",
            "exar",
            group: .crop,
            help: "Adds a canvas around the result until it has the proportions of the size.",
            arguments: [OptionArgument("extend", \.canvas.extendsToAspectRatio)]
                + .gravity(
                    \.canvas.aspectRatioGravity.kind,
                    x: \.canvas.aspectRatioGravity.x,
                    y: \.canvas.aspectRatioGravity.y,
                    allowsSmart: false
                ),
            check: { gravityComplaint($0, at: 1) }
        ),
        ImageOption(
            "gravity",
            "g",
            group: .crop,
            help: "What is kept where something is cut off; offsets from 1 on are pixels, those below are relative.",
            arguments: .gravity(\.gravity.kind, x: \.gravity.x, y: \.gravity.y),
            check: { gravityComplaint($0, at: 0) }
        ),
        ImageOption(
            "crop",
            "c",
            group: .crop,
            help: "Uses a part of the source: pixels from 1 on, below 1 relative to the source, 0 for all.",
            arguments: [
                OptionArgument("width", .number(from: 0), \.crop.width),
                OptionArgument("height", .number(from: 0), \.crop.height),
            ]
                + .gravity(
                    \.crop.editedGravity.kind,
                    x: \.crop.editedGravity.x,
                    y: \.crop.editedGravity.y,
                    initialKind: "as gravity"
                ),
            check: { gravityComplaint($0, at: 2) }
        ),
        ImageOption(
            "trim",
            "t",
            group: .crop,
            help:
                "Cuts off a border of one colour: the given one, or that of the pixel at the top left. Single pixels do not "
                + "count, transparent ones are magenta; animations keep their borders.",
            arguments: [
                OptionArgument("threshold", Value.number(from: 0).orNil("off"), \.trim.threshold),
                OptionArgument("color", Value.color.orNil("top left"), \.trim.color),
                OptionArgument("equal_hor", \.trim.isEqualHorizontally),
                OptionArgument("equal_ver", \.trim.isEqualVertically),
            ]
        ),
        ImageOption(
            "padding",
            "pd",
            group: .crop,
            help: "Adds space around the result, in CSS' order: missing sides are as those opposite.",
            arguments: [
                OptionArgument("top", .length, \.padding.all),
                OptionArgument("right", .length, \.padding.horizontal, initial: "top"),
                OptionArgument("bottom", .length, \.padding.bottom, initial: "top"),
                OptionArgument("left", .length, \.padding.left, initial: "right"),
            ]
        ),
    ]

    private static let resizingType = OptionArgument("type", .name(), \.resizing.kind)
    private static let width = OptionArgument("width", .length, \.resizing.width)
    private static let height = OptionArgument("height", .length, \.resizing.height)
    private static let enlarge = OptionArgument("enlarge", \.resizing.enlarges)
    private static let extendArguments =
        [OptionArgument("extend", \.canvas.extends)]
        + .gravity(\.canvas.gravity.kind, x: \.canvas.gravity.x, y: \.canvas.gravity.y, allowsSmart: false)
    private static let sizeArguments = [width, height, enlarge] + extendArguments
}

extension ImagePlan {
    /// What the first argument of zoom sets.
    fileprivate var zoom: Double {
        get { resizing.zoomX }
        set { (resizing.zoomX, resizing.zoomY) = (newValue, newValue) }
    }
}
