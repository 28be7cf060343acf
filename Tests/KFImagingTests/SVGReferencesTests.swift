// Pictures within drawings, which librsvg decodes whatever their size, and chains of references.

#if SVG
import Foundation
import KFImaging
import KFSupport
import Testing

@Suite struct SVGReferencesTests {
    private let limits = ImageDecodingLimits(maxPixelCount: 96 * 64)

    private func drawing(_ content: String, before: String = "") -> Data {
        let spaces = "xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'"
        return Data("\(before)<svg \(spaces) width='10' height='10'>\(content)</svg>".utf8)
    }

    private func image(_ reference: String) -> String { "<image width='10' height='10' xlink:href='\(reference)'/>" }

    private func reference() throws -> String {
        "data:image/png;base64," + (try fixture("photo.png").base64EncodedString())
    }

    @Test func picturesWithinDrawingsCount() throws {
        let data = drawing(image(try reference()))
        #expect(try Codecs.decode(data).bitmap()[5, 5].a == 255)
        let expected = ImagingError.limitExceeded(limit: "maxPixelCount", allowed: 96 * 64, width: 96, height: 64)
        #expect(throws: expected) { try Codecs.decode(data, options: DecodingOptions(limits: limits)) }
        // Of each other's size; and within a drawing within the drawing.
        let wide = ImageDecodingLimits(maxPixelCount: 96 * 64 * 3)
        #expect(try Codecs.decode(data, options: DecodingOptions(limits: wide)).pixelWidth == 10)
        let both = drawing(image(try reference()) + image(try reference()))
        #expect(throws: ImagingError.self) { try Codecs.decode(both, options: DecodingOptions(limits: wide)) }
        let nested = drawing(image("data:image/svg+xml;base64," + data.base64EncodedString()))
        #expect(throws: expected) { try Codecs.decode(nested, options: DecodingOptions(limits: limits)) }
    }

    @Test func picturesCannotHide() throws {
        let plain = try reference()
        let hidden = [
            drawing(image(plain).replacing("href=", with: "href \n =\t")),
            drawing(image(plain.replacing("data:", with: "DATA:"))),
            drawing(image(plain.replacing("data:", with: "&#100;ata:"))),
            drawing(image(plain.replacing("iVBOR", with: "iVB\n OR"))),
            drawing(image(plain.replacing("iVBOR", with: "iVB%4FR"))),
            drawing(image("&all;"), before: "<!DOCTYPE svg [<!ENTITY all '\(plain)'>]>"),
            drawing(
                "&all;",
                before: "<!DOCTYPE svg [<!ENTITY all \"\(image(plain).replacing("h", with: "&#104;"))\">]>"
            ),
            drawing("<image/>", before: "<!DOCTYPE svg [<!ATTLIST image xlink:href CDATA '\(plain)'>]>"),
            drawing("<image/>", before: "<!DOCTYPE svg [<!ATTLIST image a CDATA '>' xlink:href CDATA '\(plain)'>]>"),
            drawing("<text>href=\"</text>" + image(plain)),
            // The words could be in any letters.
            drawing("<g/>", before: "<?xml version='1.0' encoding='UTF-7'?>"),
            drawing("<g/>", before: "<?xml version='1.0'\(String(repeating: " ", count: 300))encoding='UTF-7'?>"),
        ]
        for data in hidden {
            #expect(throws: ImagingError.self) { try Codecs.decode(data, options: DecodingOptions(limits: limits)) }
        }
    }

    @Test func whatIsNoPictureWithinIsNoConcern() throws {
        let options = DecodingOptions(limits: limits)
        for content in [
            "<a href='https://host/?a=1&amp;b=&#50;'><rect id='r' width='9' height='9'/></a><use href='#r'/>",
            "<text>href = 'what data: mean'</text>", "<text>href</text>", image("photo.png"),
        ] {
            let spaces = "<!DOCTYPE svg [<!ENTITY ns 'http://ns.adobe.com/'>]>"
            #expect(try Codecs.decode(drawing(content, before: spaces), options: options).pixelWidth == 10)
        }
    }

    @Test func largeMatricesDoNotEndTheProcess() throws {
        func filtered(_ count: Int) -> Data {
            let numbers = Array(repeating: "1", count: count).joined(separator: " ")
            return drawing(
                "<filter id='f'><feConvolveMatrix kernelMatrix='\(numbers)'/></filter>"
                    + "<rect width='9' height='9' filter='url(#f)'/>"
            )
        }
        #expect(try Codecs.decode(filtered(9)).pixelWidth == 10)
        #expect(throws: ImagingError.self) { try Codecs.decode(filtered(441)) }
        let hidden = String(decoding: filtered(441), as: UTF8.self).replacing(
            "<filter ",
            with: "<text>kernelMatrix=\"</text><filter "
        )
        #expect(throws: ImagingError.self) { try Codecs.decode(Data(hidden.utf8)) }
    }

    @Test func chainsThatNoStackHoldsAreRefused() throws {
        func masks(_ count: Int) -> Data {
            drawing(
                Array(repeating: "<mask/>", count: count - 1).joined()
                    + "<svg:mask xmlns:svg='http://www.w3.org/2000/svg'/>"
            )
        }
        #expect(try Codecs.decode(masks(20_000)).pixelWidth == 10)
        #expect(throws: ImagingError.self) { try Codecs.decode(masks(20_001)) }
    }

    @Test func picturesWithinThatCannotBeLookedAtAreRefused() throws {
        #expect(try Codecs.decode(drawing(image("data:,"))).pixelWidth == 10)
        #expect(throws: ImagingError.self) { try Codecs.decode(drawing(image("data:image/bmp;base64,Qk1hYmM="))) }
    }

    @Test func longChainsOfReferencesDoNotEndTheProcess() async throws {
        let masks = (0..<1000).map { "<mask id='m\($0)'><rect width='10' height='10' mask='url(#m\($0 + 1))'/></mask>" }
        let data = drawing(masks.joined() + "<rect width='10' height='10' mask='url(#m0)'/>")
        // Where stacks are small.
        let error = await WorkExecutor.cpu.run { Codecs.diagnose(data) }
        #expect(error == nil)
    }
}
#endif
