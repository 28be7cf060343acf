// libtiff, for what the library is compared with.
#include <tiffio.h>
