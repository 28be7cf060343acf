// libcrypto, for what the library is compared with.
#include <openssl/evp.h>
