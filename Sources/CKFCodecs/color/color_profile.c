// Colour profiles and conversion to sRGB through lcms2.
#include "../support/libraries.h"
#if KF_HAS_LCMS
#include "../support/support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lcms2.h>
#include <lcms2_plugin.h>

struct kf_color_profile {
    cmsContext context;
    cmsHPROFILE handle;
};

struct kf_color_transform {
    cmsContext context;
    cmsHTRANSFORM handle;
    bool from_cmyk;
};

static void ignore_error(cmsContext context, cmsUInt32Number code, const char *text) {
    (void)context; (void)code; (void)text;
}

// A profile of a few bytes can make lcms allocate hundreds of megabytes; real ones need two or three.
static const cmsUInt32Number most_memory = 32 << 20;

static void *take_memory(cmsContext context, cmsUInt32Number size) {
    (void)context;
    return size && size <= most_memory ? malloc(size) : NULL;
}
static void *take_more_memory(cmsContext context, void *memory, cmsUInt32Number size) {
    (void)context;
    return size <= most_memory ? realloc(memory, size) : NULL;
}
static void give_memory_back(cmsContext context, void *memory) {
    (void)context;
    free(memory);
}

static cmsContext quiet_context(void) {
    cmsPluginMemHandler memory = {
        .base = {cmsPluginMagicNumber, 2060, cmsPluginMemHandlerSig, NULL},
        .MallocPtr = take_memory,
        .FreePtr = give_memory_back,
        .ReallocPtr = take_more_memory,
    };
    cmsContext context = cmsCreateContext(&memory, NULL);
    if (context) cmsSetLogErrorHandlerTHR(context, ignore_error);
    return context;
}

static kf_color_profile *wrap(cmsContext context, cmsHPROFILE handle) {
    kf_color_profile *profile = handle ? malloc(sizeof *profile) : NULL;
    if (!profile) {
        if (handle) cmsCloseProfile(handle);
        cmsDeleteContext(context);
        return NULL;
    }
    profile->context = context;
    profile->handle = handle;
    return profile;
}

kf_color_profile *kf_profile_open(const uint8_t *icc, size_t size) {
    if (size > UINT32_MAX) return NULL;
    cmsContext context = quiet_context();
    if (!context) return NULL;
    return wrap(context, cmsOpenProfileFromMemTHR(context, icc, (cmsUInt32Number)size));
}

static cmsToneCurve *srgb_curve(cmsContext context) {
    const cmsFloat64Number parameters[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    return cmsBuildParametricToneCurve(context, 4, parameters);
}

kf_color_profile *kf_profile_rgb(const double c[8], double gamma) {
    cmsContext context = quiet_context();
    if (!context) return NULL;
    cmsToneCurve *curve = gamma > 0 ? cmsBuildGamma(context, gamma) : srgb_curve(context);
    cmsCIExyY white = {c[0], c[1], 1};
    cmsCIExyYTRIPLE primaries = {{c[2], c[3], 1}, {c[4], c[5], 1}, {c[6], c[7], 1}};
    cmsToneCurve *curves[3] = {curve, curve, curve};
    cmsHPROFILE handle = curve ? cmsCreateRGBProfileTHR(context, &white, &primaries, curves) : NULL;
    if (curve) cmsFreeToneCurve(curve);
    return wrap(context, handle);
}

kf_color_space kf_profile_space(const kf_color_profile *profile) {
    switch (cmsGetColorSpace(profile->handle)) {
    case cmsSigGrayData: return KF_SPACE_GREY;
    case cmsSigRgbData: return KF_SPACE_RGB;
    case cmsSigCmykData: return KF_SPACE_CMYK;
    default: return KF_SPACE_OTHER;
    }
}

size_t kf_profile_name(const kf_color_profile *profile, char *text, size_t capacity) {
    wchar_t wide[128];
    cmsUInt32Number size = cmsGetProfileInfo(profile->handle, cmsInfoDescription, "en", "US", wide, sizeof wide);
    size_t used = 0;
    for (size_t i = 0; size && i < 127 && wide[i]; i++) {
        uint32_t c = (uint32_t)wide[i];
        if (used + 4 >= capacity) break;
        if (c < 0x80) {
            text[used++] = (char)c;
        } else if (c < 0x800) {
            text[used++] = (char)(0xC0 | c >> 6);
            text[used++] = (char)(0x80 | (c & 0x3F));
        } else {
            text[used++] = (char)(0xE0 | (c >> 12 & 0x0F));
            text[used++] = (char)(0x80 | (c >> 6 & 0x3F));
            text[used++] = (char)(0x80 | (c & 0x3F));
        }
    }
    if (capacity) text[used] = 0;
    return used;
}

static bool is_near(const cmsCIEXYZ *color, double x, double y, double z) {
    const double tolerance = 0.003;
    return color && fabs(color->X - x) < tolerance && fabs(color->Y - y) < tolerance && fabs(color->Z - z) < tolerance;
}

bool kf_profile_is_srgb(const kf_color_profile *profile) {
    cmsHPROFILE handle = profile->handle;
    if (cmsGetColorSpace(handle) != cmsSigRgbData || !cmsIsMatrixShaper(handle)) return false;
    // A profile with tables is converted through these, whatever its matrix is.
    if (cmsIsTag(handle, cmsSigAToB0Tag) || cmsIsTag(handle, cmsSigAToB1Tag)) return false;
    if (!is_near(cmsReadTag(handle, cmsSigRedColorantTag), 0.4361, 0.2225, 0.0139)) return false;
    if (!is_near(cmsReadTag(handle, cmsSigGreenColorantTag), 0.3851, 0.7169, 0.0971)) return false;
    if (!is_near(cmsReadTag(handle, cmsSigBlueColorantTag), 0.1431, 0.0606, 0.7141)) return false;
    const cmsTagSignature tags[3] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    for (int tag = 0; tag < 3; tag++) {
        const cmsToneCurve *curve = cmsReadTag(handle, tags[tag]);
        if (!curve) return false;
        for (int step = 1; step < 16; step++) {
            double v = step / 16.0, linear = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
            if (fabs(cmsEvalToneCurveFloat(curve, (cmsFloat32Number)v) - linear) > 0.003) return false;
        }
    }
    return true;
}

void kf_profile_close(kf_color_profile *profile) {
    if (!profile) return;
    cmsCloseProfile(profile->handle);
    cmsDeleteContext(profile->context);
    free(profile);
}

void kf_profile_srgb(uint8_t **bytes, size_t *size) {
    enum { date = 24, date_size = 12 };
    cmsContext context = quiet_context();
    cmsHPROFILE handle = context ? cmsCreate_sRGBProfileTHR(context) : NULL;
    cmsUInt32Number count = 0;
    uint8_t *memory = NULL;
    if (handle && cmsSaveProfileToMem(handle, NULL, &count) && count > date + date_size) memory = malloc(count);
    if (memory && cmsSaveProfileToMem(handle, memory, &count)) {
        // lcms writes the time of day; of 2000-01-01, the bytes are the same each time.
        const uint8_t fixed[date_size] = {2000 >> 8, 2000 & 255, 0, 1, 0, 1};
        memcpy(memory + date, fixed, date_size);
        *bytes = memory;
        *size = count;
    } else {
        free(memory);
    }
    if (handle) cmsCloseProfile(handle);
    if (context) cmsDeleteContext(context);
}

kf_color_transform *kf_transform_open(const kf_color_profile *profile, bool inverted) {
    kf_color_space space = kf_profile_space(profile);
    if (space == KF_SPACE_OTHER) return NULL;
    cmsContext context = quiet_context();
    kf_color_transform *transform = calloc(1, sizeof *transform);
    cmsHPROFILE srgb = context ? cmsCreate_sRGBProfileTHR(context) : NULL;
    if (transform && srgb) {
        // Grey pixels are already spread over B, G and R; the first byte stands for all.
        cmsUInt32Number from = space == KF_SPACE_CMYK ? (inverted ? TYPE_CMYK_8_REV : TYPE_CMYK_8)
            : space == KF_SPACE_GREY ? (COLORSPACE_SH(PT_GRAY) | CHANNELS_SH(1) | BYTES_SH(1) | EXTRA_SH(3))
                                     : TYPE_BGRA_8;
        // Threads share the transform: it must not remember the pixel that it converted last.
        cmsUInt32Number flags = cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOCACHE;
        if (space == KF_SPACE_RGB) flags |= cmsFLAGS_COPY_ALPHA;
        transform->from_cmyk = space == KF_SPACE_CMYK;
        transform->context = context;
        transform->handle = cmsCreateTransformTHR(
            context, profile->handle, from, srgb, TYPE_BGRA_8, INTENT_RELATIVE_COLORIMETRIC, flags);
    }
    if (srgb) cmsCloseProfile(srgb);
    if (transform && transform->handle) return transform;
    if (context) cmsDeleteContext(context);
    free(transform);
    return NULL;
}

void kf_transform_apply(const kf_color_transform *transform, uint8_t *pixels, size_t count) {
    cmsDoTransform(transform->handle, pixels, pixels, (cmsUInt32Number)count);
    if (!transform->from_cmyk) return;
    for (size_t i = 0; i < count; i++) pixels[i * 4 + 3] = 255;
}

void kf_transform_close(kf_color_transform *transform) {
    if (!transform) return;
    cmsDeleteTransform(transform->handle);
    cmsDeleteContext(transform->context);
    free(transform);
}
#endif
