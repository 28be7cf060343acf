// The settings of sources: when they are asked for again, and which are sent as they are. A part of the table of settings.

extension SettingsTable {
    static let copies: [Setting] = [
        Setting(
            ours: "SOURCE_TTL",
            .integer(0...(.max)),
            \.sources.freshness,
            help:
                "Seconds until the server of a source is asked whether it has changed, if neither Cache-Control nor Expires"
                + " says it. KF_TTL is what clients are told."
        ),
        Setting(
            ours: "ALLOW_RELOAD",
            .boolean,
            \.sources.allowsReload,
            help:
                "Requests with Cache-Control: no-cache, as of a browser that reloads, ask the server of the source at once."
        ),
        Setting(
            ours: "DAMAGED",
            Value<SourceSettings.Damaged>.name(),
            \.sources.damaged,
            help:
                "What is sent of a source of which a part is missing: the part that is there, which nobody keeps, or an error."
        ),
        Setting(
            "SKIP_PROCESSING_FORMATS",
            Value.format.list(),
            \.urls.keptFormats,
            help: "Sources of these formats are sent as they are, unless the URL names another format."
        ),
        Setting(
            "SANITIZE_SVG",
            .boolean,
            \.sources.cleansDrawings,
            help:
                "Drawings are sent without scripts and without references to anything outside them; raw ones as they are."
        ),
        Setting(
            "ALWAYS_RASTERIZE_SVG",
            .boolean,
            \.sources.rasterizesDrawings,
            help: "Drawings become pixels also where the URL names no format."
        ),
    ]
}
