// libcurl, for the baselines.
#include <curl/curl.h>
