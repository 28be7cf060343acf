// Reading the first frame of a GIF through giflib. Refuses to know animation.
#include "support.h"
#include <stdlib.h>
#include <string.h>
#include <gif_lib.h>

struct kf_gif_reader {
    GifFileType *file;
    const uint8_t *bytes;
    size_t left;
};

static int read_bytes(GifFileType *file, GifByteType *to, int count) {
    kf_gif_reader *reader = file->UserData;
    size_t available = reader->left < (size_t)count ? reader->left : (size_t)count;
    memcpy(to, reader->bytes, available);
    reader->bytes += available;
    reader->left -= available;
    return (int)available;
}

static bool fail(kf_message *message, int code) {
    const char *text = GifErrorString(code);
    kf_fail(message, code == D_GIF_ERR_NOT_ENOUGH_MEM ? KF_OUT_OF_MEMORY : KF_MALFORMED, text ? text : "damaged data");
    return false;
}

kf_gif_reader *kf_gif_open(const uint8_t *bytes, size_t size, kf_message *message) {
    kf_gif_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    reader->bytes = bytes;
    reader->left = size;
    int code = 0;
    reader->file = DGifOpen(reader, read_bytes, &code);
    if (!reader->file) {
        fail(message, code);
        kf_gif_close(reader);
        return NULL;
    }
    return reader;
}

// Skips to the first picture; answers its transparent colour index or −1, or −2 when there is no picture.
static int find_first_frame(kf_gif_reader *reader, kf_message *message) {
    int transparent = NO_TRANSPARENT_COLOR;
    for (;;) {
        GifRecordType type;
        if (DGifGetRecordType(reader->file, &type) == GIF_ERROR) return fail(message, reader->file->Error), -2;
        if (type == IMAGE_DESC_RECORD_TYPE) {
            if (DGifGetImageDesc(reader->file) == GIF_ERROR) return fail(message, reader->file->Error), -2;
            return transparent;
        }
        if (type == TERMINATE_RECORD_TYPE) return kf_fail(message, KF_MALFORMED, "there is no picture in it"), -2;
        if (type != EXTENSION_RECORD_TYPE) continue;
        int function;
        GifByteType *block;
        if (DGifGetExtension(reader->file, &function, &block) == GIF_ERROR) {
            return fail(message, reader->file->Error), -2;
        }
        while (block) {
            GraphicsControlBlock control;
            if (function == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
                transparent = control.TransparentColor;
            }
            if (DGifGetExtensionNext(reader->file, &block) == GIF_ERROR) return fail(message, reader->file->Error), -2;
        }
    }
}

static void draw_row(
    const GifPixelType *indices, int count, const ColorMapObject *map, int transparent, uint8_t *to
) {
    for (int x = 0; x < count; x++, to += 4) {
        if (indices[x] == transparent || indices[x] >= map->ColorCount) continue;
        const GifColorType *color = &map->Colors[indices[x]];
        to[0] = color->Blue;
        to[1] = color->Green;
        to[2] = color->Red;
        to[3] = 255;
    }
}

bool kf_gif_read_first_frame(
    kf_gif_reader *reader, uint8_t *rows, size_t stride, uint32_t width, uint32_t height, kf_message *message
) {
    static const int starts[4] = {0, 4, 2, 1}, steps[4] = {8, 8, 4, 2};
    int transparent = find_first_frame(reader, message);
    if (transparent == -2) return false;
    const GifFileType *file = reader->file;
    const GifImageDesc frame = file->Image;
    const ColorMapObject *map = frame.ColorMap ? frame.ColorMap : file->SColorMap;
    if (!map) return kf_fail(message, KF_MALFORMED, "there is no colour table"), false;
    GifPixelType *indices = malloc((size_t)frame.Width + 1);
    if (!indices) return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory"), false;
    // What lies outside the canvas is decoded and not drawn.
    int visible = (int)width - frame.Left;
    if (visible > frame.Width) visible = frame.Width;
    bool any = false, more = true;
    for (int pass = 0; pass < (frame.Interlace ? 4 : 1) && more; pass++) {
        int step = frame.Interlace ? steps[pass] : 1;
        for (int y = frame.Interlace ? starts[pass] : 0; y < frame.Height && more; y += step) {
            more = DGifGetLine(reader->file, indices, frame.Width) != GIF_ERROR;
            if (!more) continue;
            any = true;
            int row = frame.Top + y;
            if (row >= (int)height || visible <= 0) continue;
            draw_row(indices, visible, map, transparent, rows + (size_t)row * stride + (size_t)frame.Left * 4);
        }
    }
    free(indices);
    return any || fail(message, file->Error);
}

void kf_gif_close(kf_gif_reader *reader) {
    if (!reader) return;
    int code;
    if (reader->file) DGifCloseFile(reader->file, &code);
    free(reader);
}
