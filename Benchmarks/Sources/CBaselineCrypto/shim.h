// libcrypto, for the baselines.
#include <openssl/evp.h>
