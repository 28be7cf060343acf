// libavif, for the baselines.
#include <avif/avif.h>
