// libwebp, for what the library is compared with.
#include <webp/decode.h>
