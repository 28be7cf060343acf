// The comparison of images: the peak signal-to-noise ratio as textbooks define it.

import KFImaging
import KingfisherTestSupport
import Testing

struct ImageComparisonTests {
    private func plain(_ value: UInt8, width: Int = 5, height: Int = 4, except: [Int: UInt8] = [:]) -> Bitmap {
        Bitmap(width: width, height: height) { bytes, bytesPerRow in
            for y in 0..<height { for x in 0..<width * 4 { bytes[y * bytesPerRow + x] = value } }
            for (index, value) in except { bytes[index] = value }
        }
    }

    @Test("Equal images have an infinite PSNR") func equalImages() {
        #expect(ImageComparison.psnr(plain(7), plain(7)) == .infinity)
        #expect(ImageComparison.compare(plain(7), plain(7), atLeast: 99).isAlike)
    }

    @Test("A difference of one everywhere is 48 decibels") func differenceOfOne() throws {
        let psnr = try #require(ImageComparison.psnr(plain(7), plain(8)))
        #expect(abs(psnr - 48.1308) < 0.001)
        #expect(ImageComparison.compare(plain(7), plain(8), atLeast: 48).isAlike)
        #expect(!ImageComparison.compare(plain(7), plain(8), atLeast: 49).isAlike)
    }

    @Test("Black and white are zero decibels apart") func blackAndWhite() {
        #expect(ImageComparison.psnr(plain(0), plain(255)) == 0)
    }

    @Test("The largest difference is located") func largestDifference() {
        let spot = plain(10, except: [plain(10).bytesPerRow * 2 + 3 * 4 + 1: 60])
        let outcome = ImageComparison.compare(plain(10), spot)
        #expect(outcome.largestDifference == 50)
        #expect(outcome.position == (3, 2))
    }

    @Test("Images of different sizes have no likeness") func differentSizes() {
        #expect(ImageComparison.psnr(plain(7), plain(7, width: 4)) == nil)
        #expect(!ImageComparison.compare(plain(7), plain(7, height: 5), atLeast: 0).isAlike)
    }
}
