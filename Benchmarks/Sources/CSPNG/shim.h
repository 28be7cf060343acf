// libspng, for what the library is compared with.
#include <spng.h>
