// libvips, for what the library is compared with.
#include <vips/vips.h>
