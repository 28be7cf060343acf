// libwebp, for the baselines.
#include <webp/decode.h>
