// libpng, for what the library is compared with.
#include <png.h>
