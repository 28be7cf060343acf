// Code that the wrappers share: reporting a failure, and a buffer that grows.
#include "support.h"
#include <stdlib.h>
#include <string.h>

const char *kf_message_text(const kf_message *message) { return message->text; }

kf_status kf_fail(kf_message *message, kf_status status, const char *text) {
    message->status = status;
    size_t length = 0;
    for (; text[length] != 0 && length + 1 < sizeof message->text; length++) {
        char byte = text[length];
        message->text[length] = (byte >= ' ' && byte < 127) ? byte : ' ';
    }
    message->text[length] = 0;
    return status;
}

bool kf_buffer_reserve(kf_buffer *buffer, size_t extra) {
    if (extra <= buffer->capacity - buffer->size) return true;
    size_t capacity = buffer->capacity ? buffer->capacity * 2 : 16 * 1024;
    while (capacity - buffer->size < extra) capacity *= 2;
    uint8_t *bytes = realloc(buffer->bytes, capacity);
    if (!bytes) return false;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

bool kf_buffer_append(kf_buffer *buffer, const void *bytes, size_t size) {
    if (!kf_buffer_reserve(buffer, size)) return false;
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
    return true;
}

void kf_buffer_take(kf_buffer *buffer, uint8_t **bytes, size_t *size) {
    // The bytes may be kept for long; the unused room is released.
    uint8_t *shrunk = buffer->size ? realloc(buffer->bytes, buffer->size) : NULL;
    *bytes = shrunk ? shrunk : buffer->bytes;
    *size = buffer->size;
    *buffer = (kf_buffer){0};
}
