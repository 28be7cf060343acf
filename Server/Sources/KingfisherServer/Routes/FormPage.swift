// The page on which URLs are tried. For those who develop.

import KFImageURLs

/// A form with all options, the result, its size and time, and the URL.
enum FormPage {
    static var html: String { "<!doctype html>" }
}
