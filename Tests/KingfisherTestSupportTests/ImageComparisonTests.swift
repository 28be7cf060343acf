// The measure of likeness is the textbook's.

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

    @Test func equalPicturesAreInfinitelyAlike() {
        #expect(ImageComparison.psnr(plain(7), plain(7)) == .infinity)
        #expect(ImageComparison.compare(plain(7), plain(7), atLeast: 99).isAlike)
    }

    @Test func aDifferenceOfOneEverywhereIs48Decibels() throws {
        let psnr = try #require(ImageComparison.psnr(plain(7), plain(8)))
        #expect(abs(psnr - 48.1308) < 0.001)
        #expect(ImageComparison.compare(plain(7), plain(8), atLeast: 48).isAlike)
        #expect(!ImageComparison.compare(plain(7), plain(8), atLeast: 49).isAlike)
    }

    @Test func blackAndWhiteAreZeroDecibels() {
        #expect(ImageComparison.psnr(plain(0), plain(255)) == 0)
    }

    @Test func theLargestDifferenceIsLocated() {
        let spot = plain(10, except: [plain(10).bytesPerRow * 2 + 3 * 4 + 1: 60])
        let outcome = ImageComparison.compare(plain(10), spot)
        #expect(outcome.largestDifference == 50)
        #expect(outcome.position == (3, 2))
    }

    @Test func picturesOfDifferentSizesAreNotAlike() {
        #expect(ImageComparison.psnr(plain(7), plain(7, width: 4)) == nil)
        #expect(!ImageComparison.compare(plain(7), plain(7, height: 5), atLeast: 0).isAlike)
    }
}
