// The options about how the result looks: turning, background, effects, watermark. A part of the table of options.

extension OptionTable {
    static let look: [ImageOption] = [
        ImageOption(
            "auto_rotate",
            "ar",
            group: .look,
            help: "Whether the image is turned as its metadata says.",
            example: "ar:0",
            arguments: [OptionArgument("on", \.turning.followsOrientation)]
        ),
        ImageOption(
            "rotate",
            "rot",
            group: .look,
            help: "Turns the image clockwise after that.",
            example: "rot:90",
            arguments: [OptionArgument("angle", .rightAngle, \.turning.rotation)]
        ),
        ImageOption(
            "flip",
            "fl",
            group: .look,
            help: "Mirrors the image after that.",
            example: "fl:1",
            arguments: [
                OptionArgument("horizontal", \.turning.flipsHorizontally),
                OptionArgument("vertical", \.turning.flipsVertically),
            ]
        ),
        ImageOption(
            "background",
            "bg",
            group: .look,
            help: "Lays the image on a colour, given in hexadecimal or as three numbers; without a value on none.",
            example: "bg:ff8800",
            arguments: [
                OptionArgument("color or red", words: "\(Value.color.words), or integer 0–255", initial: "none"),
                OptionArgument("green", words: Value.integer(0...255).words),
                OptionArgument("blue", words: Value.integer(0...255).words),
            ],
            setTogether: setBackground
        ),
        ImageOption(
            "blur",
            "bl",
            group: .look,
            help:
                "Blurs the result by a Gaussian that ends at a fifth of its height: a sigma of 1 pixel looks like 0.7, 2 like "
                + "1.6.",
            example: "bl:3",
            arguments: [OptionArgument("sigma", .number(from: 0), \.effects.blur)]
        ),
        ImageOption(
            "sharpen",
            "sh",
            group: .look,
            help: "Makes edges steeper in lightness, and leaves flat areas and grain alone; sigma in pixels.",
            example: "sh:0.7",
            arguments: [OptionArgument("sigma", .number(from: 0), \.effects.sharpen)]
        ),
        ImageOption(
            "pixelate",
            "pix",
            group: .look,
            help: "Makes squares of that side from the top left, each the mean of its pixels; the last are cut off. "
                + "0 and 1 do nothing.",
            example: "pix:8",
            arguments: [OptionArgument("size", .length, \.effects.pixelate)]
        ),
        ImageOption(
            "watermark",
            "wm",
            group: .look,
            help:
                "Lays the server's watermark over the result: at a side, repeated (re) or on every second square (ch);"
                + " x and y are its distance, or the space between copies; from 1 on pixels, below 1 relative to the result,"
                + " as the scale. Without effect where the server has none.",
            example: "wm:0.5:soea:10:10:0.2",
            arguments: [
                OptionArgument("opacity", .number(0...1), \.watermark.opacity),
                OptionArgument("position", .name(), \.watermark.position),
                OptionArgument("x", .number, \.watermark.x),
                OptionArgument("y", .number, \.watermark.y),
                OptionArgument("scale", .number(from: 0), \.watermark.scale),
            ]
        ),
    ]

    @Sendable private static func setBackground(_ builder: inout PlanBuilder, _ values: [String]) -> String? {
        if values.allSatisfy(\.isEmpty) {
            builder.plan.background = nil
        } else if values.count == 1, let color = Color(hex: values[0]) {
            builder.plan.background = color
        } else {
            let parts = values.compactMap { UInt8($0) }
            guard parts.count == 3, values.count == 3 else {
                return "it needs a hexadecimal colour or three integers 0–255"
            }
            builder.plan.background = Color(red: parts[0], green: parts[1], blue: parts[2])
        }
        return nil
    }
}

extension Value where T == ImagePlan.Turning.Rotation {
    fileprivate static var rightAngle: Self {
        Value(
            words: "multiple of 90",
            read: { text in Int(text).flatMap { T(rawValue: ($0 % 360 + 360) % 360) } },
            write: { "\($0.rawValue)" }
        )
    }
}
