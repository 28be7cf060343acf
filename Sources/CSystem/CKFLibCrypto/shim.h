// libcrypto of OpenSSL: the SHA-256 that entries are named by.
#include <openssl/crypto.h>
#include <openssl/evp.h>
