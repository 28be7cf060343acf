// Rounded corners, against copying the same pixels. Uses public processors only.

import Foundation
import Kingfisher

let shapeBenchmarks = [
    Benchmark(name: "round corners on 400×300, against memcpy") {
        let shapes = Shapes(width: 400, height: 300, radius: 20)
        let comparison = try await compare(
            rounds: 201,
            operations: 20,
            ours: { for _ in 0..<20 { try shapes.round() } },
            baseline: { for _ in 0..<20 { try shapes.copy() } }
        )
        return Figure(comparison, .atMostTimes(3))
    },
    // The cost that does not grow with the image: the processor, the objects around the pixels, the arcs. 7 µs were
    // measured.
    Benchmark(name: "round corners on 40×40: the fixed cost") {
        let shapes = Shapes(width: 40, height: 40, radius: 20)
        let comparison = try await compare(
            rounds: 201,
            operations: 20,
            ours: { for _ in 0..<20 { try shapes.round() } },
            baseline: { for _ in 0..<20 { try shapes.copy() } }
        )
        return Figure(.seconds(comparison.ours), baseline: .seconds(comparison.baseline), .atMost(.seconds(15e-6)))
    },
]

/// An image whose corners are rounded, and the bare copy of its pixels into other memory.
private struct Shapes: Sendable {
    private let image: Image
    private let processor: RoundCornerImageProcessor
    private let options = KingfisherParsedOptionsInfo(nil)

    init(width: Int, height: Int, radius: CGFloat) {
        image = Image(
            cgImage: Bitmap(width: width, height: height, hasAlpha: false) { memory, _ in
                memory.initializeMemory(as: UInt8.self, repeating: 255)
            }
        )
        processor = RoundCornerImageProcessor(cornerRadius: radius)
    }

    func round() throws {
        let rounded = processor.process(item: .image(image), options: options)
        try BenchmarkError.unless(rounded?.hasAlpha == true, "the corners were not rounded")
    }

    func copy() throws {
        guard let bitmap = image.cgImage else { throw BenchmarkError("the image is empty") }
        try bitmap.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let memory = malloc(bytes.count) else {
                throw BenchmarkError("no memory")
            }
            memcpy(memory, base, bytes.count)
            try BenchmarkError.unless(
                memory.load(fromByteOffset: bytes.count - 1, as: UInt8.self) == 255,
                "nothing was copied"
            )
            free(memory)
        }
    }
}
