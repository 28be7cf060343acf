// libspng, for the baselines.
#include <spng.h>
