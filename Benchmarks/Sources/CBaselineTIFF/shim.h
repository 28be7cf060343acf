// libtiff, for the baselines.
#include <tiffio.h>
