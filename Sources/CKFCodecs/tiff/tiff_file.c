// A TIFF in memory as libtiff reads it: where bytes come from, where errors go. Used when a TIFF is opened.
#include "../support/libraries.h"
#if KF_HAS_TIFF
#include "tiff.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

kf_status kf_tiff_fail(const kf_tiff_reader *reader, kf_message *message, kf_status status, const char *text) {
    return kf_fail(message, status, reader->library_error[0] ? reader->library_error : text);
}

// ---------------------------------------------------------------------------------------------- bytes in memory

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t count) {
    kf_tiff_reader *reader = handle;
    const size_t end = reader->size + reader->padding;
    const size_t left = reader->position < end ? end - reader->position : 0;
    const size_t some = count < 0 ? 0 : (size_t)count < left ? (size_t)count : left;
    const size_t there = reader->position < reader->size ? reader->size - reader->position : 0;
    const size_t copied = some < there ? some : there;
    if (copied > 0) memcpy(to, reader->bytes + reader->position, copied);
    memset((uint8_t *)to + copied, 0, some - copied);
    reader->position += some;
    return (tmsize_t)some;
}
static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t count) {
    (void)handle; (void)from; (void)count;
    return 0;
}
static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    kf_tiff_reader *reader = handle;
    const toff_t end = reader->size + reader->padding;
    const toff_t base = whence == SEEK_CUR ? reader->position : whence == SEEK_END ? end : 0;
    reader->position = base + offset < SIZE_MAX ? (size_t)(base + offset) : SIZE_MAX;
    return reader->position;
}
static int close_file(thandle_t handle) { (void)handle; return 0; }
static toff_t size_of(thandle_t handle) {
    const kf_tiff_reader *reader = handle;
    return reader->size + reader->padding;
}
static int map(thandle_t handle, void **base, toff_t *size) {
    const kf_tiff_reader *reader = handle;
    if (reader->padding > 0) return 0;
    *base = (void *)(uintptr_t)reader->bytes;
    *size = reader->size;
    return 1;
}
static void unmap(thandle_t handle, void *base, toff_t size) { (void)handle; (void)base; (void)size; }

// ---------------------------------------------------------------------------------------------- errors

// 'c': a strip is taken as it is, not as many small ones.
static const char mode[] = "rc";

#if TIFFLIB_VERSION >= 20221213
// Whether a value of these tags could not be read; libtiff then takes the image for another one, without a colour map.
static bool is_about_meaning(const char *text) {
    static const char *const tags[] = {"JPEGTables", "ColorMap", "ICC Profile", "WhitePoint"};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        if (strstr(text, "IO error") && strstr(text, tags[i])) return true;
    }
    return false;
}

static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    (void)tiff; (void)module;
    kf_tiff_reader *reader = user;
    char text[200];
    vsnprintf(text, sizeof text, format, arguments);
    if (is_about_meaning(text)) reader->lacks_meaning = true;
    if (!reader->library_error[0]) memcpy(reader->library_error, text, sizeof text);
    return 1;
}
// libtiff went on; so do we. Some warnings mean that pixels are wrong, or will be.
static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    (void)tiff;
    kf_tiff_reader *reader = user;
    char text[200];
    vsnprintf(text, sizeof text, format, arguments);
    if (is_about_meaning(text)) reader->lacks_meaning = true;
    if (!module || strcmp(module, "JPEGLib") != 0 || strstr(text, "extraneous bytes")) return 1;
    // Others are about headers only.
    if (strstr(text, "Corrupt JPEG data") || strstr(text, "Premature end")) reader->damaged = true;
    return 1;
}

TIFF *kf_tiff_open_quietly(kf_tiff_reader *reader, size_t most) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, reader);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, reader);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)most);
    TIFF *tiff = TIFFClientOpenExt(
        "", mode, reader, read_bytes, write_bytes, seek, close_file, size_of, map, unmap, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}
#else
// Before 4.5 libtiff has handlers for the whole process only; without any it prints nothing, and damage that it can
// only warn about goes unnoticed.
static void silence(void) {
    TIFFSetErrorHandler(NULL);
    TIFFSetErrorHandlerExt(NULL);
    TIFFSetWarningHandler(NULL);
    TIFFSetWarningHandlerExt(NULL);
}

void kf_tiff_silence(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, silence);
}

TIFF *kf_tiff_open_quietly(kf_tiff_reader *reader, size_t most) {
    kf_tiff_silence();
    (void)most;
    return TIFFClientOpen("", mode, reader, read_bytes, write_bytes, seek, close_file, size_of, map, unmap);
}
#endif
#endif
