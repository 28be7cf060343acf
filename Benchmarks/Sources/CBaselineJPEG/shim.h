// libjpeg-turbo, for what the library is compared with.
#include <stdio.h>
#include <jpeglib.h>
