// The spelling of pipelines, and what is said about every kind of mistake in one.

import Foundation
import Testing

@testable import kf

@Suite struct PipelineParserTests {
    @Test(arguments: [
        ("downsample(200x100)", [PipelineStep.downsample(CGSize(width: 200, height: 100))]),
        ("resize(100x50)", [.resize(CGSize(width: 100, height: 50), .none)]),
        ("resize(100x50,none)", [.resize(CGSize(width: 100, height: 50), .none)]),
        ("resize(100x50,aspectFit)", [.resize(CGSize(width: 100, height: 50), .aspectFit)]),
        (" resize ( 1.5x2 , aspectFill ) ", [.resize(CGSize(width: 1.5, height: 2), .aspectFill)]),
        ("round(20)", [.round(.init(radius: .pixels(20)))]),
        ("round(50%)", [.round(.init(radius: .fraction(0.5)))]),
        ("round(0)", [.round(.init(radius: .pixels(0)))]),
        (
            "round(7.5,corners=tl+br,size=40x30,background=#fff)",
            [
                .round(
                    .init(
                        radius: .pixels(7.5),
                        corners: [.topLeft, .bottomRight],
                        size: CGSize(width: 40, height: 30),
                        background: HexColor(red: 255, green: 255, blue: 255)
                    )
                )
            ]
        ),
        (
            "downsample(200x200)|>round(20)",
            [.downsample(CGSize(width: 200, height: 200)), .round(.init(radius: .pixels(20)))]
        ),
    ])
    func spellingsBecomeSteps(text: String, steps: [PipelineStep]) throws {
        #expect(try PipelineParser.parse(text) == steps)
    }

    /// What is typed, the part the mark stands under, and words of the message.
    @Test(arguments: [
        ("", "", "a step is missing"),
        ("   ", "", "a step is missing"),
        ("round(3)|>", "", "a step is missing"),
        ("|>round(3)", "", "a step is missing"),
        ("blurr(3)", "blurr", "no step \"blurr\""),
        ("round(3)|>blurr(3)", "blurr", "no step \"blurr\""),
        ("Round(3)", "Round", "no step \"Round\""),
        ("(3)", "(3)", "no step"),
        ("round", "", "needs its arguments in parentheses"),
        ("round 3", "3", "needs its arguments in parentheses"),
        ("round(3", "", "is not closed"),
        ("round(3) round(4)", "round(4)", "stands behind"),
        ("round(3)>round(4)", ">round(4)", "stands behind"),
        ("round()", "", "needs an argument"),
        ("downsample()", "", "needs an argument"),
        ("downsample(100)", "100", "not a size"),
        ("downsample(100x)", "", "not a number of pixels"),
        ("downsample(x100)", "", "not a number of pixels"),
        ("downsample(100x0)", "0", "not a number of pixels"),
        ("downsample(-1x10)", "-1", "not a number of pixels"),
        ("downsample(1x2x3)", "1x2x3", "not a size"),
        ("downsample(nanx10)", "nan", "not a number of pixels"),
        ("downsample(infx10)", "inf", "not a number of pixels"),
        ("downsample(1e3x10)", "1e3", "not a number of pixels"),
        ("downsample(0x10x10)", "0x10x10", "not a size"),
        ("downsample(16385x10)", "16385", "not a number of pixels"),
        ("downsample(99999999999999999999x1)", "99999999999999999999", "not a number of pixels"),
        ("downsample(٣x3)", "٣", "not a number of pixels"),
        ("downsample(10x10,3)", "3", "one argument too many"),
        ("resize(10x10,fit)", "fit", "unknown here"),
        ("resize(10x10,)", "", "unknown here"),
        ("resize(10x10,none,none)", "none", "one argument too many"),
        ("round(abc)", "abc", "not a radius"),
        ("round(-3)", "-3", "not a radius"),
        ("round(1..2)", "1..2", "not a radius"),
        ("round(101%)", "101%", "not a part of the size"),
        ("round(%)", "%", "not a part of the size"),
        ("round(3,tl)", "tl", "unknown here"),
        ("round(3,corner=tl)", "corner=tl", "unknown here"),
        ("round(3,corners=tl+xx)", "xx", "not a corner"),
        ("round(3,corners=)", "", "not a corner"),
        ("round(3,size=10)", "10", "not a size"),
        ("round(3,size=1x1,size=2x2)", "size", "is there twice"),
        ("round(3,background=#12)", "#12", "not a colour"),
        ("round(3,background=#12345)", "#12345", "not a colour"),
        ("round(3,background=#ggg)", "#ggg", "not a colour"),
        ("round(3,background=pinkish)", "pinkish", "not a colour"),
    ])
    func mistakesArePointedAt(text: String, part: String, words: String) throws {
        let error = try #require(throws: PipelineError.self) { try PipelineParser.parse(text) }
        let characters = Array(text)
        #expect(String(characters[error.range]) == part)
        #expect(error.problem.contains(words), "\(error.problem)")
        #expect(!error.allowed.isEmpty)
    }

    @Test func theMarkStandsUnderTheOffendingPart() throws {
        let error = try #require(throws: PipelineError.self) {
            try PipelineParser.parse("downsample(200x200)|>blurr(3)")
        }
        #expect(
            error.description == """
                there is no step "blurr"
                    downsample(200x200)|>blurr(3)
                                         ^~~~~
                  allowed here:
                    downsample(WxH)
                    resize(WxH[,none|aspectFit|aspectFill])
                    round(R|P%[,corners=tl+tr+bl+br][,size=WxH][,background=COLOR])
                """
        )
    }

    @Test func aSecondUseOfAKeyOffersOnlyWhatIsLeft() throws {
        let error = try #require(throws: PipelineError.self) {
            try PipelineParser.parse("round(3,corners=tl,corners=tr)")
        }
        #expect(error.allowed == ["size=…", "background=…", ")"])
    }

    @Test(arguments: [
        ("#f00", HexColor(red: 255, green: 0, blue: 0)),
        ("#0A141E", HexColor(red: 10, green: 20, blue: 30)),
        ("#0a141e80", HexColor(red: 10, green: 20, blue: 30, alpha: 128)),
        ("White", HexColor(red: 255, green: 255, blue: 255)),
        ("clear", HexColor(red: 0, green: 0, blue: 0, alpha: 0)),
    ])
    func coloursAreRead(text: String, color: HexColor) { #expect(HexColor(text) == color) }
}
