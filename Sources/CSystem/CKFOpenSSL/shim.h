// TLS of OpenSSL, for the test server.
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
