// libvips, for the baselines.
#include <vips/vips.h>
