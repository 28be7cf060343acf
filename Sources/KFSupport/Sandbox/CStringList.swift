// A list of strings as C takes the arguments and the environment of a program. For those that start programs.

import Foundation

/// Lends C a list of strings that ends with a null pointer.
func withCStrings<Result>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
}
