// PSNR, SSIM and the image of the difference.

import Foundation
import KFImaging
import Testing

@Suite struct ImageComparisonTests {
    /// A pattern, and noise of at most `noise` levels over it.
    private func pattern(_ width: Int, _ height: Int, noise: Int = 0) -> Image {
        Image(
            cgImage: .of(
                (0..<height).map { y in
                    (0..<width).map { x in
                        let shift = (x * 7 + y * 13) % (2 * noise + 1) - noise
                        return [(x * 3 + y * 2) % 256, (x * x + y * y) / 16 % 256, x * y / 8 % 256].reduce(0xFF) {
                            $0 << 8 | UInt32(min(max($1 + shift, 0), 255))
                        }
                    }
                }
            )
        )
    }

    /// The numbers are those of scikit-image 0.26 for the same pixels: `peak_signal_noise_ratio(a, b)`, and of the
    /// luma 0.299 R + 0.587 G + 0.114 B, not rounded, `structural_similarity(a, b, gaussian_weights=True, sigma=1.5,
    /// use_sample_covariance=False, data_range=255)`.
    @Test(
        "PSNR and SSIM are those of scikit-image",
        arguments: [
            (64, 48, 8, 34.439882, 0.865435, 2890), (64, 48, 40, 21.154057, 0.275385, 3031),
            (11, 11, 20, 28.342374, 0.432589, 117), (70, 13, 3, 42.419221, 0.970816, 769),
        ]
    )
    func yardstick(width: Int, height: Int, noise: Int, psnr: Double, ssim: Double, differing: Int) throws {
        let comparison = try #require(
            try ImageComparison(pattern(width, height), pattern(width, height, noise: noise))
        )
        #expect(abs(comparison.psnr - psnr) < 1e-5, "\(comparison.psnr)")
        #expect(abs(comparison.ssim - ssim) < 1e-5, "\(comparison.ssim)")
        #expect(comparison.differing == differing && comparison.largest == noise)
    }

    @Test("Equal images have no difference; a large one is compared on several threads")
    func equality() throws {
        for (width, height) in [(1, 1), (5, 3), (700, 600)] {
            let image = pattern(width, height)
            let comparison = try #require(try ImageComparison(image, pattern(width, height)))
            #expect(comparison.psnr == .infinity && comparison.ssim == 1)
            #expect(comparison.differing == 0 && comparison.largest == 0)
            #expect(try comparison.difference().bitmap().rows.joined().allSatisfy { $0 == Pixel(r: 0, g: 0, b: 0) })
            let other = try #require(try ImageComparison(image, pattern(width, height, noise: 1)))
            #expect(other.ssim < 1 || other.differing == 0)
        }
    }

    @Test("Images of different sizes, and empty ones, are not compared") func sizes() throws {
        #expect(try ImageComparison(pattern(8, 4), pattern(4, 8)) == nil)
        #expect(try ImageComparison(pattern(8, 4), Image()) == nil)
        // As shown they are of one size.
        let turned = Image(cgImage: try pattern(8, 4).bitmap(), scale: 1, orientation: .right)
        #expect(try ImageComparison(turned, pattern(4, 8)) != nil)
    }

    @Test("Transparency differs too, and the largest difference is white") func transparency() throws {
        let one = Image(cgImage: .of([[0xFF00_0000, 0xFF00_0000, 0xFF10_2030]]))
        let other = Image(cgImage: .of([[0x0000_0000, 0xFF33_0000, 0xFF10_2030]]))
        let comparison = try #require(try ImageComparison(one, other))
        #expect(comparison.differing == 2 && comparison.largest == 255)
        // 255² + 51² over three pixels of four components.
        #expect(abs(comparison.psnr - 10 * log10(255 * 255 * 12 / Double(255 * 255 + 51 * 51))) < 1e-9)
        let rows = try comparison.difference().bitmap().rows
        #expect(rows == [[Pixel(r: 255, g: 255, b: 255), Pixel(r: 51, g: 0, b: 0), Pixel(r: 0, g: 0, b: 0)]])
        let faint = try #require(
            try ImageComparison(Image(cgImage: .of([[0xFF00_0000]])), Image(cgImage: .of([[0xFF00_0201]])))
        )
        #expect(try faint.difference().bitmap()[0, 0] == Pixel(r: 0, g: 255, b: 128))
    }
}
