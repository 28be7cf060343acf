// libavif, for what the library is compared with.
#include <avif/avif.h>
