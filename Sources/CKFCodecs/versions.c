#include "CKFCodecs.h"
#include <avif/avif.h>
#include <png.h>
#include <gif_lib.h>
#include <stdio.h>
#include <jpeglib.h>
#include <lcms2.h>
#include <webp/decode.h>
#include <webp/demux.h>
const char *kf_codecs_versions(void) { WebPGetDecoderVersion(); WebPGetDemuxVersion(); cmsGetEncodedCMMversion(); struct jpeg_error_mgr e; jpeg_std_error(&e); GifErrorString(0); png_access_version_number(); return avifVersion(); }
