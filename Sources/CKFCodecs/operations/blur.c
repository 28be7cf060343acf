// The mean of a square around every pixel, by running sums: the time does not depend on the square.
//
// Sums of columns walk down the rows, and a sum of them walks along each row. Means take the place of the pixels; of
// the rows above, as many are kept as the sums still have to lose. Small squares have a loop for AVX2; both give the
// same bytes.
#include "CKFCodecs.h"
#include <string.h>

/// An image in which the rows above one have been replaced.
typedef struct image {
    uint8_t *pixels;
    size_t bytes_per_row, width, height;
    ptrdiff_t radius;
    /// The last rows that were replaced, as they were: row y is at y modulo `kept_count`.
    uint8_t *kept;
    size_t kept_count;
} image;

static size_t kept_rows(size_t height, uint32_t radius) { return radius < height ? radius + 1 : height; }

/// The row that the sums for row `y` have to gain.
static inline const uint8_t *row_below(const image *image, size_t y) {
    const size_t below = y + (size_t)image->radius, last = image->height - 1;
    return image->pixels + (below < last ? below : last) * image->bytes_per_row;
}

/// The row that the sums for row `y` have to lose, when those from `first` on are still there.
static inline const uint8_t *row_above(const image *image, size_t y, size_t first) {
    const size_t distance = (size_t)image->radius + 1, above = y < distance ? 0 : y - distance;
    if (above >= first) return image->pixels + above * image->bytes_per_row;
    return image->kept + above % image->kept_count * image->bytes_per_row;
}

static inline void keep_row(const image *image, size_t y) {
    memcpy(
        image->kept + y % image->kept_count * image->bytes_per_row, image->pixels + y * image->bytes_per_row,
        image->bytes_per_row);
}

/// The sums of columns around the row before the first: that row is the first one, too.
#define START_COLUMNS(sums, image, count)                                                                            \
    do {                                                                                                             \
        const ptrdiff_t radius = (image)->radius, last = (ptrdiff_t)(image)->height - 1;                             \
        const ptrdiff_t inside = radius - 1 < last ? radius - 1 : last;                                              \
        for (size_t i = 0; i < (count); i++)                                                                         \
            (sums)[i] = (image)->pixels[i] * (unsigned)(radius + 2)                                                  \
                      + row_below(image, (size_t)last)[i] * (unsigned)(radius - 1 - inside);                         \
        for (ptrdiff_t y = 1; y <= inside; y++)                                                                      \
            for (size_t i = 0; i < (count); i++)                                                                     \
                (sums)[i] += (image)->pixels[(size_t)y * (image)->bytes_per_row + i];                                \
    } while (0)

// ---------------------------------------------------------------------------------------------- any processor

typedef double numbers __attribute__((vector_size(32)));
typedef int32_t integers __attribute__((vector_size(16)));

/// Adds the sums of a column so many times. (By reference: how vectors are passed depends on the processor.)
static inline void add_column(numbers *sum, const uint32_t *sums, ptrdiff_t x, size_t width, double times) {
    const ptrdiff_t last = (ptrdiff_t)width - 1;
    integers four;
    __builtin_memcpy(&four, sums + (x < 0 ? 0 : x > last ? last : x) * 4, sizeof four);
    *sum += __builtin_convertvector(four, numbers) * times;
}

/// Means of one row. Doubles hold these sums exactly, and the half that is added keeps quotients away from the next
/// integer.
static void mean_of_columns(const uint32_t *sums, size_t width, ptrdiff_t radius, uint8_t *output) {
    const double side = 2 * (double)radius + 1;
    const double share = 1 / (side * side), half = (side * side - 1) / 2 + 0.5;
    const ptrdiff_t inside = radius < (ptrdiff_t)width - 1 ? radius : (ptrdiff_t)width - 1;
    numbers sum = {half, half, half, half};
    add_column(&sum, sums, 0, width, (double)(radius + 1));
    add_column(&sum, sums, (ptrdiff_t)width - 1, width, (double)(radius - inside));
    for (ptrdiff_t x = 1; x <= inside; x++) add_column(&sum, sums, x, width, 1);
    for (ptrdiff_t x = 0; x < (ptrdiff_t)width; x++) {
        const integers means = __builtin_convertvector(sum * share, integers);
        for (int c = 0; c < 4; c++) output[x * 4 + c] = (uint8_t)means[c];
        add_column(&sum, sums, x + radius + 1, width, 1);
        add_column(&sum, sums, x - radius, width, -1);
    }
}

static void blur_any(const image *image, uint32_t *sums) {
    const size_t count = image->width * 4;
    START_COLUMNS(sums, image, count);
    for (size_t y = 0; y < image->height; y++) {
        const uint8_t *new = row_below(image, y), *old = row_above(image, y, y);
        for (size_t i = 0; i < count; i++) sums[i] += (uint32_t)new[i] - old[i];
        keep_row(image, y);
        mean_of_columns(sums, image->width, image->radius, image->pixels + y * image->bytes_per_row);
    }
}

// ---------------------------------------------------------------------------------------------- AVX2

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))

/// With sides up to 15, 255 in every pixel of the square still fits into 16 bits.
enum { largest_small_radius = 7 };

static inline AVX2 __m256i four_pixels(const uint8_t *row) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)row));
}

static inline AVX2 void store(void *memory, __m256i value) { _mm256_storeu_si256(memory, value); }

/// The sums of columns for four rows from `y` on. The sums of one column in the four rows lie beside each other.
static AVX2 void columns_of_four_rows(const image *image, size_t y, uint16_t *sums, uint16_t *columns) {
    const uint8_t *new[4], *old[4];
    for (size_t k = 0; k < 4; k++) {
        // Sums of rows after the last one are not used, but must be read from somewhere.
        const size_t row = y + k < image->height ? y + k : image->height - 1;
        new[k] = row_below(image, row);
        old[k] = row_above(image, row, y);
    }
    for (size_t x = 0; x < image->width; x += 4, sums += 16, columns += 64) {
        __m256i sum = _mm256_loadu_si256((const __m256i *)sums), rows[4];
        for (int k = 0; k < 4; k++) {
            sum = _mm256_add_epi16(
                sum, _mm256_sub_epi16(four_pixels(new[k] + x * 4), four_pixels(old[k] + x * 4)));
            rows[k] = sum;
        }
        store(sums, sum);
        const __m256i even = _mm256_unpacklo_epi64(rows[0], rows[1]), odd = _mm256_unpackhi_epi64(rows[0], rows[1]);
        const __m256i even2 = _mm256_unpacklo_epi64(rows[2], rows[3]), odd2 = _mm256_unpackhi_epi64(rows[2], rows[3]);
        store(columns, _mm256_permute2x128_si256(even, even2, 0x20));
        store(columns + 16, _mm256_permute2x128_si256(odd, odd2, 0x20));
        store(columns + 32, _mm256_permute2x128_si256(even, even2, 0x31));
        store(columns + 48, _mm256_permute2x128_si256(odd, odd2, 0x31));
    }
}

/// The means of four rows at once. `columns` begins a side before the first column of the image.
static AVX2 void means_of_four_rows(
    const uint16_t *columns, size_t width, int radius, uint8_t *output, size_t bytes_per_row, size_t rows) {
    const int side = 2 * radius + 1, area = side * side;
    // n / area as a multiplication; exact for all n there are, because
    // 255.5 · area · (factor · area - 2^(16 + bits)) is less than 2^(16 + bits) for every one of these areas.
    const int bits = 31 - __builtin_clz((unsigned)area);
    const __m256i factor = _mm256_set1_epi16((short)(((1 << (16 + bits)) + area - 1) / area));
    const __m128i shift = _mm_cvtsi32_si128(bits);
    __m256i sum = _mm256_set1_epi16((short)(area / 2));
    for (int x = 0; x < side; x++)
        sum = _mm256_add_epi16(sum, _mm256_loadu_si256((const __m256i *)(columns + x * 16)));
    for (size_t x = 0; x < width; x += 4) {
        __m256i means[4];
        for (int k = 0; k < 4; k++, columns += 16) {
            const __m256i new = _mm256_loadu_si256((const __m256i *)(columns + side * 16));
            sum = _mm256_add_epi16(sum, _mm256_sub_epi16(new, _mm256_loadu_si256((const __m256i *)columns)));
            means[k] = _mm256_srl_epi16(_mm256_mulhi_epu16(sum, factor), shift);
        }
        const __m256 left = _mm256_castsi256_ps(_mm256_packus_epi16(means[0], means[1]));
        const __m256 right = _mm256_castsi256_ps(_mm256_packus_epi16(means[2], means[3]));
        const __m256i even = _mm256_castps_si256(_mm256_shuffle_ps(left, right, 0x88));
        const __m256i odd = _mm256_castps_si256(_mm256_shuffle_ps(left, right, 0xDD));
        uint8_t *place = output + x * 4;
        _mm_storeu_si128((__m128i *)place, _mm256_castsi256_si128(even));
        if (rows > 1) _mm_storeu_si128((__m128i *)(place + bytes_per_row), _mm256_castsi256_si128(odd));
        if (rows > 2) _mm_storeu_si128((__m128i *)(place + 2 * bytes_per_row), _mm256_extracti128_si256(even, 1));
        if (rows > 3) _mm_storeu_si128((__m128i *)(place + 3 * bytes_per_row), _mm256_extracti128_si256(odd, 1));
    }
}

static AVX2 void blur_avx2(const image *image, uint16_t *sums) {
    const size_t width = image->width, padded = (width + 3) / 4 * 4;
    const int radius = (int)image->radius;
    uint16_t *columns = sums + padded * 4, *first = columns + (radius + 1) * 16;
    START_COLUMNS(sums, image, padded * 4);
    for (size_t y = 0; y < image->height; y += 4) {
        const size_t rows = image->height - y < 4 ? image->height - y : 4;
        columns_of_four_rows(image, y, sums, first);
        for (int i = 0; i <= radius; i++) memcpy(columns + i * 16, first, 32);
        const uint16_t *last = first + (width - 1) * 16;
        for (size_t i = width; i < padded + (size_t)radius; i++) memcpy(first + i * 16, last, 32);
        for (size_t k = 0; k < rows; k++) keep_row(image, y + k);
        means_of_four_rows(
            columns, width, radius, image->pixels + y * image->bytes_per_row, image->bytes_per_row, rows);
    }
}
#endif

// ---------------------------------------------------------------------------------------------- whichever fits

size_t kf_box_blur_scratch(size_t bytes_per_row, size_t height, uint32_t radius) {
    // Kept rows; then the sums of columns in 32 bits, or those in 16 bits and four rows of them with a square's side
    // more.
    return kept_rows(height, radius) * bytes_per_row + bytes_per_row * 10 + 16 * 32;
}

static image image_of(
    uint8_t *pixels, size_t bytes_per_row, size_t width, size_t height, uint32_t radius, uint8_t *scratch) {
    return (image){pixels, bytes_per_row, width, height, radius, scratch, kept_rows(height, radius)};
}

void kf_box_blur_portably(
    uint8_t *pixels, size_t bytes_per_row, size_t width, size_t height, uint32_t radius, uint8_t *scratch) {
    const image image = image_of(pixels, bytes_per_row, width, height, radius, scratch);
    // Rows are padded to 16 bytes: what follows the kept ones lies at a place for numbers.
    blur_any(&image, (uint32_t *)(void *)(scratch + image.kept_count * bytes_per_row));
}

void kf_box_blur(
    uint8_t *pixels, size_t bytes_per_row, size_t width, size_t height, uint32_t radius, uint8_t *scratch) {
#if defined(__x86_64__)
    if (radius > 0 && radius <= largest_small_radius && __builtin_cpu_supports("avx2")) {
        const image image = image_of(pixels, bytes_per_row, width, height, radius, scratch);
        return blur_avx2(&image, (uint16_t *)(void *)(scratch + image.kept_count * bytes_per_row));
    }
#endif
    kf_box_blur_portably(pixels, bytes_per_row, width, height, radius, scratch);
}
