// libcrypto of OpenSSL: the SHA-256 that entries are named by.
#if !__has_include(<openssl/evp.h>)
#error "OpenSSL is missing: apt-get install libssl-dev"
#endif
#include <openssl/crypto.h>
#include <openssl/evp.h>
