// The spelling of pipelines, and the errors for every kind of mistake in one.

import Foundation
import Testing

@testable import kf

@Suite struct PipelineParserTests {
    @Test(
        "All spellings of sizes and corners become steps",
        arguments: [
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
        ]
    )
    func sizesAndCorners(text: String, steps: [PipelineStep]) throws {
        #expect(try PipelineParser.parse(text) == steps)
    }

    @Test(
        "All spellings of the other steps become steps",
        arguments: [
            ("thumbnail(300x200)", PipelineStep.thumbnail(CGSize(width: 300, height: 200))),
            ("thumbnail(300x, exact)", .thumbnail(CGSize(width: 300, height: 0), .exact)),
            ("thumbnail(x200,fill,anchor=smart)", .thumbnail(CGSize(width: 0, height: 200), .fill, .smart)),
            (
                "thumbnail(30x20,fill,anchor=0,0.25)",
                .thumbnail(CGSize(width: 30, height: 20), .fill, .point(CGPoint(x: 0, y: 0.25)))
            ),
            ("downsample(300x)", .downsample(CGSize(width: 300, height: 0))),
            ("resize(300x)", PipelineStep.resize(CGSize(width: 300, height: 0))),
            ("resize(x200,filter=nearest)", .resize(CGSize(width: 0, height: 200), .none, .nearest)),
            ("resize(9x8,filter=lanczos3)", PipelineStep.resize(CGSize(width: 9, height: 8), .none, .lanczos3)),
            (
                "resize(9x8,aspectFit,filter=catmullRom)",
                .resize(CGSize(width: 9, height: 8), .aspectFit, .catmullRom)
            ),
            ("resize(9x8, none, filter = nearest )", .resize(CGSize(width: 9, height: 8), .none, .nearest)),
            ("crop(9x8)", .crop(CGSize(width: 9, height: 8), anchor: CGPoint(x: 0.5, y: 0.5))),
            ("crop(9x8,0,1)", .crop(CGSize(width: 9, height: 8), anchor: CGPoint(x: 0, y: 1))),
            ("crop(9x8,100,50)", .cropRect(CGRect(x: 100, y: 50, width: 9, height: 8))),
            ("crop(9x8,0,2)", .cropRect(CGRect(x: 0, y: 2, width: 9, height: 8))),
            ("crop(9x8,1px,1)", .cropRect(CGRect(x: 1, y: 1, width: 9, height: 8))),
            ("pad(9x8)", .pad(CGSize(width: 9, height: 8))),
            ("pad(9x8,#fff)", .pad(CGSize(width: 9, height: 8), HexColor(red: 255, green: 255, blue: 255))),
            ("pad(9x8,0,1)", .pad(CGSize(width: 9, height: 8), anchor: CGPoint(x: 0, y: 1))),
            (
                "pad(9x8,red,0,1)",
                .pad(CGSize(width: 9, height: 8), HexColor(red: 255, green: 0, blue: 0), anchor: CGPoint(x: 0, y: 1))
            ),
            ("smartcrop(9x8)", .smartcrop(CGSize(width: 9, height: 8))),
            ("trim()", .trim(tolerance: 0.04)),
            ("trim(0.2)", .trim(tolerance: 0.2)),
            ("circle( )", .circle),
            ("border(4,red)", .border(width: 4, HexColor(red: 255, green: 0, blue: 0), radius: .pixels(0))),
            (
                "border(1.5,#00000088,25%)",
                .border(width: 1.5, HexColor(red: 0, green: 0, blue: 0, alpha: 136), radius: .fraction(0.25))
            ),
            ("rotate(-90)", .rotate(degrees: -90)),
            ("rotate(12.5)", .rotate(degrees: 12.5)),
            ("rotate(+90)", .rotate(degrees: 90)),
            ("rotate(-.5)", .rotate(degrees: -0.5)),
            ("overlay(red,.5)", .overlay(HexColor(red: 255, green: 0, blue: 0), fraction: 0.5)),
            ("tint(darkGrey)", .tint(HexColor(red: 85, green: 85, blue: 85))),
            ("smartcrop(9X8)", .smartcrop(CGSize(width: 9, height: 8))),
            ("smartcrop(9×8)", .smartcrop(CGSize(width: 9, height: 8))),
            ("flip(h)", .flip(.horizontal)),
            ("flip(v)", .flip(.vertical)),
            ("blur(5)", .blur(sigma: 5)),
            ("sharpen(1.2)", .sharpen(sigma: 1.2, amount: 1)),
            ("sharpen(1.2,0.5)", .sharpen(sigma: 1.2, amount: 0.5)),
            ("overlay(Blue)", .overlay(HexColor(red: 0, green: 0, blue: 255), fraction: 0.5)),
            ("overlay(logo.png)", .overlayImage(ImageOverlay(path: "logo.png"))),
            (
                "overlay(./logo, anchor=1,0.5, opacity=0.3, width=25%)",
                .overlayImage(
                    ImageOverlay(
                        path: "./logo",
                        anchor: CGPoint(x: 1, y: 0.5),
                        opacity: 0.3,
                        size: .width(.fraction(0.25))
                    )
                )
            ),
            ("overlay(a b.png,width=200)", .overlayImage(ImageOverlay(path: "a b.png", size: .width(.pixels(200))))),
            ("overlay(a.b,scale=0.5)", .overlayImage(ImageOverlay(path: "a.b", size: .scaled(0.5)))),
            ("overlay(#00f,0)", .overlay(HexColor(red: 0, green: 0, blue: 255), fraction: 0)),
            ("tint(#00ff0080)", .tint(HexColor(red: 0, green: 255, blue: 0, alpha: 128))),
            (
                "colors(-0.1,1.2,0,-1)",
                .colors(.init(brightness: -0.1, contrast: 1.2, saturation: 0, exposure: -1))
            ),
            ("grayscale()", .grayscale),
            ("bw()", .blackAndWhite),
            ("blend(multiply)", .blend(.multiply, alpha: 1, background: nil)),
            ("blend(colorDodge,0.5)", .blend(.colorDodge, alpha: 0.5, background: nil)),
            ("blend(screen,#fff)", .blend(.screen, alpha: 1, background: HexColor(red: 255, green: 255, blue: 255))),
            ("blend(xor,0,red)", .blend(.xor, alpha: 0, background: HexColor(red: 255, green: 0, blue: 0))),
            ("composite(sourceOver)", .composite(.sourceOver, alpha: 1, background: nil)),
            (
                "composite(highlight,0.25,yellow)",
                .composite(.highlight, alpha: 0.25, background: HexColor(red: 255, green: 255, blue: 0))
            ),
        ]
    )
    func otherSteps(text: String, step: PipelineStep) throws {
        #expect(try PipelineParser.parse(text) == [step])
    }

    @Test("Step names are unique, and each usage begins with its name") func stepNames() {
        let steps = PipelineParser.steps
        #expect(Set(steps.map(\.name)).count == steps.count)
        for step in steps { #expect(step.usage.hasPrefix("\(step.name)(")) }
    }

    /// The arguments are the typed text, the part above the mark, and words of the message.
    @Test(
        "An error names the part that is wrong",
        arguments: [
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
            ("downsample(x)", "", "not a number of pixels"),
            ("crop(x100)", "", "not a number of pixels"),
            ("thumbnail()", "", "needs an argument"),
            ("thumbnail(3x2,cover)", "cover", "unknown here"),
            ("thumbnail(3x2,fill,anchor=2,0)", "2", "not an anchor"),
            ("thumbnail(3x2,fill,anchor=0.5)", "", "needs one more argument"),
            ("thumbnail(3x2,fill,anchor=smart,1)", "1", "unknown here"),
            ("thumbnail(3x2,anchors=smart)", "anchors=smart", "unknown here"),
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
            ("resize(10x,aspectFit)", "aspectFit", "unknown here"),
            ("resize(x)", "", "not a number of pixels"),
            ("resize(0x)", "0", "not a number of pixels"),
            ("crop(10x)", "", "not a number of pixels"),
            ("resize(10x10,none,none)", "none", "unknown here"),
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
            ("resize(10x10,filter=)", "", "not a filter"),
            ("resize(10x10,filter=cubic)", "cubic", "not a filter"),
            ("resize(10x10,filter=nearest,filter=nearest)", "filter", "is there twice"),
            ("resize(10x10,filter=nearest,none)", "none", "unknown here"),
            ("crop(10)", "10", "not a size"),
            ("crop(10x10,0.5)", "", "needs one more argument"),
            ("crop(10x10,2,0.5)", "0.5", "not a pixel"),
            ("crop(10x10,1.5,0)", "1.5", "not a pixel"),
            ("crop(10x10,-2px,0)", "-2px", "not a pixel"),
            ("crop(10x10,left,2)", "left", "not a pixel"),
            ("crop(10x10,left,top)", "left", "not an anchor"),
            ("crop(10x10,0,-0.1)", "-0.1", "not an anchor"),
            ("crop(10x10,0,0,0)", "0", "one argument too many"),
            ("pad()", "", "needs an argument"),
            ("pad(9x)", "", "not a number of pixels"),
            ("pad(9x9,reddish)", "reddish", "not a colour"),
            ("pad(9x9,red,0)", "", "needs one more argument"),
            ("pad(9x9,0,2)", "2", "not an anchor"),
            ("smartcrop()", "", "needs an argument"),
            ("smartcrop(axb)", "a", "not a number of pixels"),
            ("trim(-1)", "-1", "not a tolerance"),
            ("trim(5%)", "5%", "not a tolerance"),
            ("circle(3)", "3", "one argument too many"),
            ("border(3)", "", "needs one more argument"),
            ("border(red,3)", "red", "not a width"),
            ("border(3,reddish)", "reddish", "not a colour"),
            ("border(3,red,x)", "x", "not a radius"),
            ("rotate()", "", "needs an argument"),
            ("rotate(left)", "left", "not a number of degrees"),
            ("rotate(1e9)", "1e9", "not a number of degrees"),
            ("rotate(3601)", "3601", "not a number of degrees"),
            ("rotate(+-1)", "+-1", "not a number of degrees"),
            ("rotate(.)", ".", "not a number of degrees"),
            ("rotate(--1)", "--1", "not a number of degrees"),
            ("flip()", "", "needs an argument"),
            ("flip(x)", "x", "unknown here"),
            ("flip(h,v)", "v", "one argument too many"),
            ("blur()", "", "needs an argument"),
            ("blur(-1)", "-1", "not a standard deviation"),
            ("blur(nan)", "nan", "not a standard deviation"),
            ("blur(2001)", "2001", "not a standard deviation"),
            ("sharpen(x)", "x", "not a sigma"),
            ("sharpen(1,-1)", "-1", "not an amount"),
            ("overlay(0.5)", "0.5", "not a colour"),
            ("overlay(logo)", "logo", "not a colour"),
            ("overlay(logo.png,0.5)", "0.5", "unknown here"),
            ("overlay(logo.png,anchor=2,0)", "2", "not an anchor"),
            ("overlay(logo.png,anchor=1)", "", "needs one more argument"),
            ("overlay(logo.png,opacity=50%)", "50%", "not an opacity"),
            ("overlay(logo.png,scale=0)", "0", "not a scale"),
            ("overlay(logo.png,width=x)", "x", "not a width"),
            ("overlay(logo.png,scale=2,width=9)", "width=9", "unknown here"),
            ("overlay(logo.png,scale=2,scale=2)", "scale", "is there twice"),
            ("overlay(red,1.5)", "1.5", "not a fraction"),
            ("tint(#12)", "#12", "not a colour"),
            ("tint(red,0.5)", "0.5", "one argument too many"),
            ("colors(0,1,1)", "", "needs one more argument"),
            ("colors(0)", "", "needs 3 more arguments"),
            ("colors()", "", "needs 4 arguments"),
            ("colors(a,1,1,0)", "a", "not a brightness"),
            ("colors(0,inf,1,0)", "inf", "not a contrast"),
            ("colors(0,1,,0)", "", "not a saturation"),
            ("colors(0,1,1,1000)", "1000", "not an exposure"),
            ("bw", "", "needs its arguments in parentheses"),
            ("bw(1)", "1", "one argument too many"),
            ("blend()", "", "needs an argument"),
            ("blend(Multiply)", "Multiply", "unknown here"),
            ("blend(sourceOver)", "sourceOver", "unknown here"),
            ("blend(multiply,2)", "2", "not an opacity"),
            ("blend(multiply,mauve)", "mauve", "neither an opacity nor a colour"),
            ("blend(multiply,red,0.5)", "0.5", "one argument too many"),
            ("blend(multiply,0.5,0.5)", "0.5", "not a colour"),
            ("composite(normal)", "normal", "unknown here"),
            ("composite(xor,0.5,#ggg)", "#ggg", "not a colour"),
        ] as [(String, String, String)]
    )
    func errors(text: String, part: String, words: String) throws {
        let error = try #require(throws: PipelineError.self) { try PipelineParser.parse(text) }
        let characters = Array(text)
        #expect(String(characters[error.range]) == part)
        #expect(error.problem.contains(words), "\(error.problem)")
        #expect(!error.allowed.isEmpty)
    }

    @Test("The mark of an error is below the part that is wrong") func errorMark() throws {
        let error = try #require(throws: PipelineError.self) {
            try PipelineParser.parse("downsample(200x200)|>blurr(3)")
        }
        #expect(
            error.description == """
                there is no step "blurr"; did you mean blur?
                    downsample(200x200)|>blurr(3)
                                         ^~~~~
                  allowed here:
                    thumbnail(WxH|Wx|xH[,fit|fill|exact][,anchor=AX,AY|anchor=smart][,light=encoded])
                    resize(WxH|Wx|xH[,none|aspectFit|aspectFill][,filter=lanczos3][,light=encoded])
                    downsample(WxH|Wx|xH)
                    crop(WxH[,AX,AY|,X,Y])
                    smartcrop(WxH)
                    pad(WxH[,COLOR][,AX,AY])
                    trim([TOLERANCE])
                    round(R|P%[,corners=tl+tr+bl+br][,size=WxH][,background=COLOR])
                    circle()
                    border(WIDTH,COLOR[,R])
                    rotate(DEGREES)
                    flip(h|v)
                    blur(SIGMA)
                    sharpen(SIGMA[,AMOUNT])
                    overlay(COLOR[,FRACTION]|FILE[,anchor=AX,AY][,opacity=O][,scale=S|,width=W|,width=P%])
                    tint(COLOR)
                    colors(BRIGHTNESS,CONTRAST,SATURATION,EV)
                    grayscale()
                    bw()
                    blend(MODE[,ALPHA][,COLOR])
                    composite(OPERATION[,ALPHA][,COLOR])
                """
        )
    }

    @Test("The error for a repeated key lists only the keys that are left") func repeatedKey() throws {
        let error = try #require(throws: PipelineError.self) {
            try PipelineParser.parse("round(3,corners=tl,corners=tr)")
        }
        #expect(error.allowed == ["size=…", "background=…", ")"])
    }

    @Test(
        "Colours are read",
        arguments: [
            ("#f00", HexColor(red: 255, green: 0, blue: 0)),
            ("#0A141E", HexColor(red: 10, green: 20, blue: 30)),
            ("#0a141e80", HexColor(red: 10, green: 20, blue: 30, alpha: 128)),
            ("White", HexColor(red: 255, green: 255, blue: 255)),
            ("grey", HexColor(red: 128, green: 128, blue: 128)),
            ("lightGrey", HexColor(red: 170, green: 170, blue: 170)),
            ("clear", HexColor(red: 0, green: 0, blue: 0, alpha: 0)),
        ]
    )
    func colours(text: String, color: HexColor) { #expect(HexColor(text) == color) }
}
