// Short ways to plans and to errors, for the tests of this target.

import Foundation
import KFImageURLs

let someSource = "plain/https://example.com/a.jpg"

/// The settings, changed.
func settings(_ change: (inout URLSettings) -> Void) -> URLSettings {
    var settings = URLSettings()
    change(&settings)
    return settings
}

/// The plan of options like `w:10/h:20`, without a signature.
func plan(_ options: String, settings: URLSettings = URLSettings()) throws(RequestError) -> ImagePlan {
    try parsed("/_/" + options + (options.isEmpty ? "" : "/") + someSource, settings: settings).plan
}

/// What a path says on the morning of 1 January 2026.
func parsed(_ path: String, settings: URLSettings = URLSettings()) throws(RequestError) -> ParsedPath {
    try PathParser(settings: settings).parse(path, now: Date(timeIntervalSince1970: 1_767_254_400))
}

/// The error of a path; nil if there is none.
func error(of path: String, settings: URLSettings = URLSettings()) -> RequestError? {
    do throws(RequestError) {
        _ = try parsed(path, settings: settings)
        return nil
    } catch {
        return error
    }
}

/// The error of options.
func error(ofOptions options: String, settings: URLSettings = URLSettings()) -> RequestError? {
    error(of: "/_/" + options + "/" + someSource, settings: settings)
}

/// A resource of this target as text.
func resource(_ name: String) throws -> String {
    let folder = Bundle.module.bundleURL.appendingPathComponent("Resources")
    return try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
}
