// libjpeg-turbo, for the baselines.
#include <stdio.h>
#include <jpeglib.h>
