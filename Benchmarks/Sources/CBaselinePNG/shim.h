// libpng, for the baselines.
#include <png.h>
