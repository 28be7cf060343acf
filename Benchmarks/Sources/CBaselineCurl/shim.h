// libcurl, for what the library is compared with.
#include <curl/curl.h>
