// The options about size, crop and canvas. A part of the table of options.

extension OptionTable {
    static let size: [ImageOption] = [
        ImageOption(
            "resize",
            "rs",
            group: .size,
            help: "Type, size, enlarging and extending in one.",
            example: "rs:fill:300:200",
            arguments: [resizingType] + sizeArguments,
            check: { gravityComplaint($0, at: 5) }
        ),
        ImageOption(
            "size",
            "s",
            group: .size,
            help: "Size, enlarging and extending in one.",
            example: "s:300:200",
            arguments: sizeArguments,
            check: { gravityComplaint($0, at: 4) }
        ),
        ImageOption(
            "resizing_type",
            "rt",
            group: .size,
            help:
                "How the size is reached. fit: inside the box. fill: the box is covered, the rest is cut off. fill-down: as "
                + "fill, but smaller sources keep their size, in the box's proportions. force: stretched. auto: fill where "
                + "source and box have the same orientation, fit otherwise.",
            example: "rt:fill",
            arguments: [resizingType]
        ),
        ImageOption(
            "width",
            "w",
            group: .size,
            help: "Width in pixels; 0 follows from the height.",
            example: "w:300",
            arguments: [width]
        ),
        ImageOption(
            "height",
            "h",
            group: .size,
            help: "Height in pixels; 0 follows from the width.",
            example: "h:200",
            arguments: [height]
        ),
        ImageOption(
            "min-width",
            "mw",
            group: .size,
            help: "The least width; enlarges if it must.",
            example: "mw:300",
            arguments: [OptionArgument("width", .length, \.resizing.minWidth)]
        ),
        ImageOption(
            "min-height",
            "mh",
            group: .size,
            help: "The least height; enlarges if it must.",
            example: "mh:200",
            arguments: [OptionArgument("height", .length, \.resizing.minHeight)]
        ),
        ImageOption(
            "zoom",
            "z",
            group: .size,
            help: "Multiplies the size; one number is for both sides.",
            example: "z:1.5",
            arguments: [
                OptionArgument("x", .positive(upTo: 1000), \.zoom),
                OptionArgument("y", .positive(upTo: 1000), \.resizing.zoomY, initial: "x"),
            ]
        ),
        ImageOption(
            "dpr",
            group: .size,
            help: "Multiplies size, paddings and offsets; lowered to what the source has unless it may be enlarged.",
            example: "dpr:2",
            arguments: [OptionArgument("dpr", .positive(upTo: 1000), \.resizing.dpr)]
        ),
        ImageOption(
            "enlarge",
            "el",
            group: .size,
            help: "Whether the result may be larger than the source.",
            example: "el:1",
            arguments: [enlarge]
        ),
    ]

    static let crop: [ImageOption] = [
        ImageOption(
            "extend",
            "ex",
            group: .crop,
            help: "Adds a canvas around results that are smaller than the size.",
            example: "ex:1:so",
            arguments: extendArguments,
            check: { gravityComplaint($0, at: 1) }
        ),
        ImageOption(
            "extend_aspect_ratio",
            "extend_ar",
            "exar",
            group: .crop,
            help: "Adds a canvas around the result until it has the proportions of the size.",
            example: "exar:1",
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
            example: "g:sm",
            arguments: .gravity(\.gravity.kind, x: \.gravity.x, y: \.gravity.y),
            check: { gravityComplaint($0, at: 0) }
        ),
        ImageOption(
            "crop",
            "c",
            group: .crop,
            help: "Uses a part of the source: pixels from 1 on, below 1 relative to the source, 0 for all.",
            example: "c:0.5:0.5:no",
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
            example: "t:10:ffffff",
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
            example: "pd:10:20",
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
