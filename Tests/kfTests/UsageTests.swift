// The exit status and the messages for invalid command lines, help, and completion scripts.

import Foundation
import Testing

@testable import kf

@Suite(.tags(.processes)) struct UsageTests {
    /// The arguments are a command line and words of the message.
    @Test(
        "A usage error exits with status 2",
        arguments: [
            (["nonsense"], "nonsense"),
            (["fech"], "kf has no command \"fech\"; did you mean fetch?"),
            (["help", "nope"], "kf has no command \"nope\"; use one of fetch, prefetch"),
            (["help", "cache", "lst"], "kf cache has no command \"lst\"; did you mean list?"),
            (["help", "fetch", "a"], "kf fetch has no command \"a\""),
            (["cache", "lst"], "did you mean list?"),
            (["process", "a", "--qualty", "0.5", "-o", "b.png", "--process", "bw()"], "Did you mean '--quality'?"),
            (
                ["process", "a", "--proces", "bw()", "-o", "b.png"],
                "Unknown option '--proces'. Did you mean '--process'?"
            ),
            (["fetch", "a", "--qualty", "0.5", "-o", "b.png"], "Did you mean '--quality'?"),
            (["fetch", "a", "-x"], "Unknown option '-x'"),
            (
                ["info", "a", "-dash.jpg"],
                "-dash.jpg is no option; put ./ before a file's name, or -- before the files"
            ),
            (["fetch", "a", "--process", "grayscal()"], "there is no step \"grayscal\"; did you mean grayscale?"),
            (["process", "a", "-o", "b.xyz", "--process", "bw()"], ".avif, .ico, .bmp or .tiff"),
            (["fetch", "a", "-o", "b.xyz"], ".avif, .ico, .bmp or .tiff"),
            (
                ["fetch", "a", "-o", "{nam}.png"],
                "{nam} stands for nothing; use {name}, {dir}, {width}, {height}, {ext}"
            ),
            (["fetch", "a", "b", "-o", "{width}.png"], "-o {width}.png has no {name}"),
            (["fetch", "a", "--keep", "xmp"], "xmp"),
            (["fetch", "a", "--subsampling", "422"], "422"),
            (["fetch", "a", "--effort", "11"], "--effort must be a number from 0 to 10"),
            (["fetch", "a", "--lossless", "--subsampling", "420"], "exclude each other"),
            (["fetch", "a", "--max-pixels", "0"], "--max-pixels must be at least 1"),
            (["fetch", "a", "--quality", "101"], "--quality must be from 0 to 100"),
            (["fetch"], "<source>"),
            (["fetch", "a", "--nonsense"], "--nonsense"),
            (["prefetch"], "<list>"),
            (["prefetch", ""], "the list needs the name of a file"),
            (["prefetch", "a", "b"], "b"),
            (["prefetch", "a", "--concurrency", "0"], "--concurrency must be from 1"),
            (["prefetch", "a", "--process", "blurr(3)"], "there is no step"),
            (["fetch", "a", "--process", "blurr(3)"], "there is no step \"blurr\""),
            (["fetch", "a", "--process", ""], "a step is missing"),
            (["fetch", "a", "--format", "heic"], "heic"),
            (["process", "a", "--process", "round(3)", "-o", "b.heic"], "asks for a format this tool does not write"),
            (["process", "", "--process", "round(3)", "-o", "b.png"], "the source is empty"),
            (["process", "ftp://h/a", "--process", "round(3)", "-o", "b.png"], "\"ftp\" is not supported"),
            (["show", "ftp://h/a"], "\"ftp\" is not supported"),
            (["fetch", "a", "--quality", "-1"], "--quality must be from 0 to 1"),
            (["fetch", "a", "--timeout", "-1"], "--timeout must be more than 0"),
            (["fetch", "a", "--concurrency", "-1"], "--concurrency must be from 1"),
            (["fetch", "a", "--repeat", "-1"], "--repeat must be at least 1"),
            (["show", "a", "--width", "-1"], "--width must be from 1"),
            (["fetch", "a", "--quality", "1.5"], "--quality must be from 0 to 1"),
            (["fetch", "a", "--quality", "nan"], "--quality must be from 0 to 1"),
            (["fetch", "a", "--timeout", "0"], "--timeout must be more than 0"),
            (["fetch", "a", "--concurrency", "0"], "--concurrency must be from 1"),
            (["fetch", "a", "--repeat", "0"], "--repeat must be at least 1"),
            (["fetch", "a", "--connect-timeout", "0"], "--connect-timeout must be more than 0"),
            (["info", "a", "--max-time", "-1"], "--max-time must be more than 0"),
            (["fetch", "a", "--max-time", "inf"], "--max-time must be more than 0"),
            (["info", "a", "--retry", "-1"], "--retry must be from 0"),
            (["fetch", "a", "--proxy", "ftp://host"], "\"ftp\" is no kind of proxy"),
            (["fetch", "a", "--proxy", "http://"], "no URL with a host"),
            (["fetch", "a", "--proxy", "host:99999"], "there is no port 99999"),
            (["fetch", "a", "--cacert", "missing.pem"], "cannot read missing.pem: No such file"),
            (["fetch", "a", "--cacert", "/"], "cannot read /: that is no file"),
            (["fetch", "a", "--cacert", "/etc/passwd"], "there is no certificate in /etc/passwd"),
            (["fetch", "a", "--header", "no colon"], "no colon"),
            (["fetch", "a", "--header", "A: b\r\nC: d"], "--header"),
            (["fetch", "a", "--only-cache", "--refresh"], "exclude each other"),
            (["fetch", "a", "--only-cache", "--memory-only"], "exclude each other"),
            (["process", "a.png", "-o", "b.webp", "--sizes", "16"], "--sizes are those of an ICO file"),
            (["process", "a.png", "-o", "b-{width}.ico", "--widths", "8,16"], "several sizes in one file"),
            (["info", "a", "--json", "--csv"], "exclude each other"),
            (["process", "a", "-o", "b.webp", "--widths", "3,4"], "name them with {width}"),
            (["process", "a", "-o", "b{width}.webp", "--widths", "3,x"], "--widths"),
            (["process", "a", "-o", "b{width}.webp", "--widths", "0"], "--widths"),
            (["fetch", "a", "b", "-o", "one.png"], "one.png is one file, but there are 2 sources"),
            (["fetch", "a", "-o", ""], "-o needs a name"),
            (["fetch", "a", "b", "-o", "-"], "-o - takes one image"),
            (["fetch", "a", "-o", "b.png", "-oc.png"], "-o is there twice; give it once, and put ./ before"),
            (["fetch", "a", "-q", "90", "-q80"], "-q is there twice"),
            (["show"], "<source>"),
            (["hash"], "<image>"),
            (["show", "a", "--protocol", "crayon"], "crayon"),
            (["show", "a", "--width", "0"], "--width must be from 1"),
            (["show", "a", "--frames", "0"], "--frames must be from 1"),
            (["show", "a", "--loops", "-1"], "--loops must be from 1"),
            (["show", "a", "--process", "blurr(3)"], "there is no step"),
            (["info"], "<source>"),
            (["process", "a"], "-o"),
            (
                ["process", "a", "-o", "b.png", "--process", "bw()", "--process=circle()"],
                "--process is there twice; give it once, with |> between"
            ),
            (["fetch", "a", "--output", "b.png", "-o", "c.png"], "--output and -o are one option; give it once"),
            (["info", "a", "--timeout", "3", "--timeout=4"], "--timeout is there twice; give it once"),
            (["process", "a", "-o", "b.png", "--in-place"], "-o and --in-place exclude each other"),
            (["process", "a", "--in-place", "--update"], "--in-place and --update exclude each other"),
            (["process", "a", "--in-place", "--format", "png"], "--in-place keeps the format; use -o to write png"),
            (["process", "a", "-", "--in-place"], "--in-place replaces files, and - is none"),
            (["process", "a", "-o", "b/", "--update", "--skip-existing"], "--update"),
            (["process", "a", "-o", "-", "--dry-run"], "--dry-run needs a file or a directory"),
            (["process", "a", "-o", "{width}.png", "--update"], "--update needs names that are known before"),
            (["process", "a", "-o", "b.png", "-r"], "b.png is one file, but --recursive may find many"),
            (["process", "a", "-o", "b.png", "-j", "0"], "--concurrency must be from 1"),
            (["process", "a", "-o", "b.png", "--process", "round(x)"], "\"x\" is not a radius"),
            (["process", "a", "b", "-o", "one.png", "--process", "round(3)"], "one.png is one file, but there are 2"),
            (["fetch", "a", "--lossless", "--quality", "0.5"], "--lossless and --quality exclude each other"),
            (["fetch", "a", "--lossless", "--format", "jpeg"], "use --format png, webp or avif"),
            (["cache", "has"], "<key>"),
            (["cache", "nonsense"], "nonsense"),
        ] as [([String], String)]
    )
    func usageErrors(arguments: [String], words: String) async throws {
        let result = try await TestDirectory().kf(arguments)
        #expect(result.status == 2)
        #expect(result.output == "")
        #expect(result.errors.hasPrefix("kf: "), "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
    }

    @Test("The error for an invalid proxy does not contain its password") func secretsOfProxies() async throws {
        for proxy in ["ftp://me:s3cret@host", "http://me:s3cret@", "http://me:s3cret@host:99999"] {
            let result = try await TestDirectory().kf("fetch", "a", "--proxy", proxy)
            #expect(result.status == 2)
            #expect(!result.errors.contains("s3cret"), "\(result.errors)")
        }
    }

    @Test(
        "Help is written to standard output",
        arguments: [["--help"], ["fetch", "--help"], ["cache", "list", "--help"], ["help", "show"], []]
    )
    func help(arguments: [String]) async throws {
        let result = try await TestDirectory().kf(arguments)
        #expect(result.status == 0)
        #expect(result.output.contains("USAGE: kf"))
        #expect(result.errors == "")
    }

    @Test("The help says what happens to images with more than 8 bits") func precision() async throws {
        for command in ["process", "fetch"] {
            #expect(try await TestDirectory().kf(command, "--help").output.contains("8 bits, multiplied by alpha"))
        }
    }

    @Test("A file whose name begins with a dash is never taken for a request for help")
    func dashedFile() async throws {
        let place = TestDirectory()
        try place.write(SampleImages.png(), "-dash.png")
        let refused = try await place.kf("process", "-dash.png", "-o", "out", "--process", "bw()")
        #expect(refused.status == 2)
        #expect(refused.output == "")
        #expect(refused.errors.hasPrefix("kf: -dash.png is a file whose name begins like an option; put ./ before"))
        for arguments in [["./-dash.png", "-o", "out/"], ["-oout/", "--", "-dash.png"]] {
            let result = try await place.kf(["process", "--process", "bw()"] + arguments)
            #expect(result.status == 0, "\(result.errors)")
            #expect(place.files("out") == ["-dash.png"])
        }
    }

    @Test("A file whose name begins like an option with its value is never taken for one")
    func optionLikeFile() async throws {
        let place = TestDirectory()
        for name in ["a.png", "-out.png", "-q5"] { try place.write(SampleImages.png(), name) }
        for (arguments, file) in [
            (["-o", "thumbs/", "a.png", "-out.png"], "-out.png"), (["-out.png", "a.png"], "-out.png"),
            (["-o", "thumbs/", "a.png", "-q5"], "-q5"),
        ] {
            let refused = try await place.kf(["process", "--process", "bw()"] + arguments)
            #expect(refused.status == 2 && refused.output == "")
            #expect(refused.errors.hasPrefix("kf: \(file) is a file, and could be the option"), "\(refused.errors)")
        }
        #expect(place.files(".").sorted() == ["-out.png", "-q5", "a.png"])
        for arguments in [["-o", "out/", "./-out.png"], ["-oout/", "--", "-out.png"], ["-o", "-out.png", "a.png"]] {
            let result = try await place.kf(["process", "--process", "bw()"] + arguments)
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    @Test("The version is written to standard output, by the tool and by each command")
    func version() async throws {
        for arguments in [["--version"], ["fetch", "--version"]] {
            let result = try await TestDirectory().kf(arguments)
            #expect(result.status == 0)
            #expect(result.output == "kf \(KFCommand.version)\n")
            #expect(result.errors == "")
        }
    }

    @Test("The scripts for shells complete commands and options", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) async throws {
        let result = try await TestDirectory().kf("--generate-completion-script", shell)
        #expect(result.status == 0, "\(result.errors)")
        for word in ["fetch", "process", "cache-dir"] { #expect(result.output.contains(word), "\(word)") }
        #expect(!result.output.contains("u{"))
    }

    @Test("The mark of a pipeline error is below the part that is wrong") func pipelineErrorMark() async throws {
        let result = try await TestDirectory().kf("fetch", "a", "--process", "downsample(200x200)|>blurr(3)")
        let lines = result.errorLines
        let mark = try #require(lines.firstIndex { $0.contains("^~~~~") })
        let column = lines[mark].prefix { $0 != "^" }.count
        #expect(lines[mark - 1].dropFirst(column).hasPrefix("blurr"))
    }
}
