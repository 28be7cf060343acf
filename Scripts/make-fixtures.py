#!/usr/bin/env python3
"""Makes the images in Tests/Catalogue, with the encoders of other projects as a reference.

Needs Pillow (apt: python3-pil), ImageMagick (apt: imagemagick), avifenc (apt: libavif-bin), webpmux (apt: webp) and cjpeg
(apt: libjpeg-turbo-progs). The images are committed, so the tests need none of them. Run from anywhere:
Scripts/make-fixtures.py
"""
import io
import os
import random
import struct
import subprocess
import tempfile
import zlib

from PIL import Image, ImageCms

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Catalogue")
FOLDERS = {"jpg": "jpeg", "cur": "ico"}


def path(name):
    """The place of a file: in the folder of its format, or in the one that is named."""
    extension = name.rsplit(".", 1)[1]
    return os.path.join(OUT, name if "/" in name else os.path.join(FOLDERS.get(extension, extension), name))


def scene(width, height):
    """A smooth image without symmetry: every rotation and every shift of it is a different image."""
    image = Image.new("RGB", (width, height))
    for y in range(height):
        for x in range(width):
            u, v = x / (width - 1), y / (height - 1)
            disc = (u - 0.3) ** 2 + (v - 0.35) ** 2 < 0.03
            color = (40 + 200 * u, 30 + 190 * v, 220 - 120 * u * v)
            image.putpixel((x, y), (250, 240, 60) if disc else tuple(int(c) for c in color))
    return image


def veil(width, height):
    """The same with an alpha that grows from left to right, transparent in the first columns."""
    image = scene(width, height).convert("RGBA")
    alpha = Image.new("L", (width, height))
    for x in range(width):
        alpha.paste(min(255, max(0, (x - 8) * 6)), (x, 0, x + 1, height))
    image.putalpha(alpha)
    return image


# --------------------------------------------------------------------------------------------- PNG by hand

def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width, height, depth, color, body, extra=b"", interlace=0):
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(body, 9))
            + chunk(b"IEND", b""))


def write(name, content):
    with open(path(name), "wb") as file:
        file.write(content)


def interlaced(image):
    """Adam7, which Pillow does not write."""
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    body = b""
    for x0, y0, dx, dy in passes:
        for y in range(y0, image.height, dy):
            row = b"".join(bytes(image.getpixel((x, y))) for x in range(x0, image.width, dx))
            if row:
                body += b"\0" + row
    return png(image.width, image.height, 8, 2, body, interlace=1)


def deep(image, channels):
    """16 bits a component: the low byte is set so that cutting it off and rounding differ for every other value."""
    body = b""
    for y in range(image.height):
        body += b"\0"
        for x in range(image.width):
            pixel = image.getpixel((x, y))
            pixel = pixel if isinstance(pixel, tuple) else (pixel,)
            body += b"".join(struct.pack(">H", min(65535, value * 257 + (100 if value % 2 else -100 if value else 0)))
                             for value in pixel[:channels])
    return png(image.width, image.height, 16, {1: 0, 3: 2, 4: 6}[channels], body)


def kinds():
    """Every colour type and depth with and without tRNS, every other one interlaced: name, PNG, pixels as RGBA.

    Lines have all the filters in rotation. What they look like is Pillow's word, and ImageMagick's where Pillow
    knows only the upper byte of a sample or no transparent colour below 8 bits (apt: imagemagick). It cuts 16 bits off
    where they should be rounded, so that all of these are multiples of 257.
    """
    dice = random.Random(7)
    width, height = 13, 9
    for color, depths in {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}.items():
        for depth in depths:
            for transparent in (False, True) if color < 4 else (False,):
                interlace = dice.randrange(2)
                count = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
                top = (1 << depth) - 1 if color != 3 else min((1 << depth) - 1, 39)
                unit = 257 if depth == 16 else 1
                samples = [[[dice.randrange(top // unit + 1) * unit for _ in range(count)] for _ in range(width)]
                           for _ in range(height)]
                extra = b""
                if color == 3:
                    extra = chunk(b"PLTE", bytes(dice.randrange(256) for _ in range(3 * (top + 1))))
                    if transparent:
                        extra += chunk(b"tRNS", bytes(dice.randrange(256) for _ in range((top + 2) // 2)))
                elif transparent:
                    extra = chunk(b"tRNS", b"".join(struct.pack(">H", value) for value in samples[0][0]))
                body = filtered(samples, depth, interlace)
                name = f"type{color}-depth{depth}" + "-trns" * transparent + "-adam7" * interlace
                data = png(width, height, depth, color, body, extra, interlace)
                yield name, width, height, data, seen_by_others(data, depth == 16 or transparent and color < 3)


def filtered(samples, depth, interlace):
    """Lines of samples, packed and filtered, line after line with filters 0 to 4 in rotation."""
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    body = b""
    for x0, y0, dx, dy in passes if interlace else [(0, 0, 1, 1)]:
        prior = None
        for index, row in enumerate(samples[y0::dy]):
            values = [value for pixel in row[x0::dx] for value in pixel]
            if not values:
                continue
            bits = "".join(format(value, f"0{depth}b") for value in values)
            bits += "0" * (-len(bits) % 8)
            line = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
            prior = prior or bytes(len(line))
            step = max(1, depth * len(row[0]) // 8)
            body += bytes([index % 5])
            for i, value in enumerate(line):
                a = line[i - step] if i >= step else 0
                c = prior[i - step] if i >= step else 0
                b = prior[i]
                nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
                body += bytes([(value - [0, a, b, (a + b) // 2, nearest][index % 5]) & 255])
            prior = line
    return body


def seen_by_others(data, through_magick):
    if not through_magick:
        return Image.open(io.BytesIO(data)).convert("RGBA").tobytes()
    command = ["convert", "png:-", "-depth", "8", "rgba:-"]
    return subprocess.run(command, input=data, check=True, stdout=subprocess.PIPE).stdout


# --------------------------------------------------------------------------------------------- colour profiles

def profile(name, primaries):
    """An ICC profile (version 4) with sRGB's curve; primaries are adapted to D50, as X, Y, Z of red, green, blue."""
    def fixed(value):
        return struct.pack(">i", round(value * 65536))

    def text(value):
        encoded = value.encode("utf-16-be")
        return b"mluc\0\0\0\0" + struct.pack(">II", 1, 12) + b"enUS" + struct.pack(">II", len(encoded), 28) + encoded

    curve = b"para\0\0\0\0" + struct.pack(">HH", 3, 0) + b"".join(
        fixed(v) for v in (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045))
    tags = [(b"desc", text(name)), (b"cprt", text("public domain")), (b"wtpt", b"XYZ \0\0\0\0" + b"".join(
        fixed(v) for v in (0.9642, 1.0, 0.8249)))]
    for tag, color in zip((b"rXYZ", b"gXYZ", b"bXYZ"), primaries):
        tags.append((tag, b"XYZ \0\0\0\0" + b"".join(fixed(v) for v in color)))
    tags += [(tag, curve) for tag in (b"rTRC", b"gTRC", b"bTRC")]
    table, data, offset = b"", b"", 128 + 4 + 12 * len(tags)
    for tag, content in tags:
        content += b"\0" * (-len(content) % 4)
        table += tag + struct.pack(">II", offset + len(data), len(content))
        data += content
    size = offset + len(data)
    header = struct.pack(">I4sI4s4s4s", size, b"\0\0\0\0", 0x04300000, b"mntr", b"RGB ", b"XYZ ")
    header += struct.pack(">6H4sI4sIIQI", 2026, 1, 1, 0, 0, 0, b"acsp", 0, b"\0\0\0\0", 0, 0, 0, 0)
    header += b"".join(fixed(v) for v in (0.9642, 1.0, 0.8249))
    header += b"\0" * (128 - len(header))
    return header + struct.pack(">I", len(tags)) + table + data


P3 = profile("Display P3 (test)", [
    (0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407)])
SRGB = profile("sRGB (test)", [
    (0.43607, 0.22249, 0.01392), (0.38515, 0.71687, 0.09708), (0.14307, 0.06061, 0.71410)])


def patches():
    """Four fields of colours that exist in both sRGB and Display P3."""
    image = Image.new("RGB", (32, 32))
    for i, color in enumerate([(200, 100, 80), (90, 180, 110), (60, 80, 190), (128, 128, 128)]):
        image.paste(color, (16 * (i % 2), 16 * (i // 2), 16 * (i % 2) + 16, 16 * (i // 2) + 16))
    return image


# --------------------------------------------------------------------------------------------- the images

TURNS = {1: None, 2: Image.FLIP_LEFT_RIGHT, 3: Image.ROTATE_180, 4: Image.FLIP_TOP_BOTTOM, 5: Image.TRANSPOSE,
         6: Image.ROTATE_90, 7: Image.TRANSVERSE, 8: Image.ROTATE_270}


def exif(orientation):
    block = Image.Exif()
    block[0x0112] = orientation
    return block.tobytes()


def make_jpeg(photo):
    photo.save(path("photo.jpg"), quality=90)
    photo.save(path("progressive.jpg"), quality=90, progressive=True)
    photo.convert("L").save(path("grey.jpg"), quality=90)
    photo.convert("CMYK").save(path("cmyk.jpg"), quality=95)
    photo.convert("CMYK").save(path("cmyk-progressive.jpg"), quality=90, progressive=True)
    patches().save(path("display-p3.jpg"), quality=98, subsampling=0, icc_profile=P3)
    patches().save(path("srgb-profile.jpg"), quality=98, subsampling=0, icc_profile=SRGB)
    # Stored rotated, with orientations for which all eight are displayed alike.
    for orientation, turn in TURNS.items():
        stored = photo if turn is None else photo.transpose(turn)
        stored.save(path(f"orientation-{orientation}.jpg"), quality=90, exif=exif(orientation))


def make_gain_map(photo):
    """The photo with a map of half its sides behind it, whose parameters are in XMP and by ISO 21496-1."""
    def jpeg(image, quality):
        file = io.BytesIO()
        image.save(file, "JPEG", quality=quality)
        return file.getvalue()

    def segment(marker, content):
        return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content

    def xmp(attributes, content=""):
        packet = ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
                  f'<rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" {attributes}>'
                  f"{content}</rdf:Description></rdf:RDF></x:xmpmeta>")
        return segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + packet.encode())

    def iso(content):
        return segment(0xE2, b"urn:iso:std:iso:ts:21496:-1\0" + content)

    # From -0.5 to 2.25 stops, a gamma of 1.5, offsets of 1/64 and 1/32, for screens of 0.25 to 2.5 stops.
    fractions = ((1, 4), (5, 2), (-1, 2), (9, 4), (3, 2), (1, 64), (1, 32))
    gains = jpeg(photo.convert("L").resize((48, 32), Image.BOX), 90)
    gains = gains[:2] + xmp(
        'hdrgm:Version="1.0" hdrgm:GainMapMin="-0.5" hdrgm:GainMapMax="2.25" hdrgm:Gamma="1.5" hdrgm:OffsetSDR="0.015625" '
        'hdrgm:OffsetHDR="0.03125" hdrgm:HDRCapacityMin="0.25" hdrgm:HDRCapacityMax="2.5"') + iso(
        bytes(5) + b"".join(struct.pack(">iI", *fraction) for fraction in fractions)) + gains[2:]
    names = "http://ns.google.com/photos/1.0/container/"
    items = "".join(f'<rdf:li rdf:parseType="Resource"><Container:Item Item:Mime="image/jpeg" {item}/></rdf:li>' for item in (
        'Item:Semantic="Primary"', f'Item:Semantic="GainMap" Item:Length="{len(gains)}"'))
    signs = xmp(f'xmlns:Container="{names}" xmlns:Item="{names}item/" hdrgm:Version="1.0"',
                f"<Container:Directory><rdf:Seq>{items}</rdf:Seq></Container:Directory>") + iso(bytes(4))
    image = jpeg(photo, 90)

    def index(length):
        entries = struct.pack(">IIIIIIII", 0x030000, length, 0, 0, 0, len(gains), length - 2 - len(signs) - 8, 0)
        fields = (struct.pack(">HHI4s", 0xB000, 7, 4, b"0100") + struct.pack(">HHII", 0xB001, 4, 1, 2)
                  + struct.pack(">HHII", 0xB002, 7, 32, 50))
        return segment(0xE2, b"MPF\0MM\0*" + struct.pack(">IH", 8, 3) + fields + bytes(4) + entries)

    length = len(image) + len(signs) + len(index(len(image)))
    with open(path("gain-map.jpg"), "wb") as file:
        file.write(image[:2] + signs + index(length) + image[2:] + gains)


def cmyk_profile():
    """An ICC profile (version 2) of an imaginary press: no ink is white, and every ink takes 60 % of its colour away.

    Nothing else gives these colours, so that a decoder that uses the profile can be distinguished from one that mixes inks itself.
    """
    def word(value):
        return struct.pack(">H", max(0, min(65535, round(value))))

    def lab(r, g, b):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (r, g, b)]
        xyz = [sum(m * c for m, c in zip(row, linear)) for row in (
            (0.43607, 0.38515, 0.14307), (0.22249, 0.71687, 0.06061), (0.01392, 0.09708, 0.71410))]
        f = [t ** (1 / 3) if t > 216 / 24389 else (t * 24389 / 27 + 16) / 116
             for t in (v / w for v, w in zip(xyz, (0.9642, 1.0, 0.8249)))]
        lightness, a, b = 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])
        return word(lightness * 652.8) + word((a + 128) * 256) + word((b + 128) * 256)

    points = 5
    table = b""
    for i in range(points ** 4):
        c, m, y, k = (i // points ** p % points / (points - 1) for p in (3, 2, 1, 0))
        table += lab(*((1 - 0.6 * ink) * (1 - 0.6 * k) for ink in (c, m, y)))
    identity = b"".join(struct.pack(">i", 65536 if i % 4 == 0 else 0) for i in range(9))
    ramp = word(0) + word(65535)
    lut = (b"mft2\0\0\0\0" + bytes([4, 3, points, 0]) + identity + struct.pack(">HH", 2, 2) + ramp * 4 + table
           + ramp * 3)
    name = b"imaginary press (test)\0"
    description = b"desc\0\0\0\0" + struct.pack(">I", len(name)) + name + b"\0" * (8 + 3 + 67)
    white = b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(v * 65536)) for v in (0.9642, 1.0, 0.8249))
    tags = [(b"desc", description), (b"cprt", b"text\0\0\0\0public domain\0"), (b"wtpt", white), (b"A2B0", lut)]
    index, data, offset = b"", b"", 128 + 4 + 12 * len(tags)
    for tag, content in tags:
        content += b"\0" * (-len(content) % 4)
        index += tag + struct.pack(">II", offset + len(data), len(content))
        data += content
    header = struct.pack(">I4sI4s4s4s", offset + len(data), b"\0\0\0\0", 0x02400000, b"prtr", b"CMYK", b"Lab ")
    header += struct.pack(">6H4sI4sIIQI", 2026, 1, 1, 0, 0, 0, b"acsp", 0, b"\0\0\0\0", 0, 0, 0, 0)
    header += b"".join(struct.pack(">i", round(v * 65536)) for v in (0.9642, 1.0, 0.8249))
    header += b"\0" * (128 - len(header))
    return header + struct.pack(">I", len(tags)) + index + data


def cjpeg(photo, name, *arguments):
    """A JPEG by libjpeg's own tool, for options that Pillow does not have."""
    header = f"P6 {photo.width} {photo.height} 255\n".encode()
    made = subprocess.run(["cjpeg", "-quality", "95", *arguments], input=header + photo.convert("RGB").tobytes(),
                          stdout=subprocess.PIPE, check=True)
    write(name, made.stdout)


def segments(data):
    """The segments of a JPEG up to its first scan: offset and marker."""
    at = 2
    while True:
        yield at, data[at + 1]
        if data[at + 1] == 0xDA:
            return
        at += 2 + struct.unpack(">H", data[at + 2:at + 4])[0]


def ycck(name):
    """The scene as YCCK: CMYK whose first three inks Adobe's marker declares to be stored as YCbCr."""
    cmyk = scene(96, 64).convert("CMYK")
    ink = Image.merge("RGB", cmyk.split()[:3])
    # Stored inverted, as Adobe does: libjpeg turns YCC back into the complements of what is stored.
    stored = Image.merge("CMYK", (*ink.convert("YCbCr").split(), cmyk.split()[3].point(lambda v: 255 - v)))
    with tempfile.NamedTemporaryFile(suffix=".jpg") as file:
        # Pillow writes the four channels as they are but inverts each of them once more.
        stored.point(lambda v: 255 - v).save(file.name, quality=95, subsampling=0)
        data = bytearray(open(file.name, "rb").read())
    adobe = next(at for at, marker in segments(data) if marker == 0xEE)
    data[adobe + 15] = 2
    write(name, bytes(data))


def make_jpeg_variants(photo):
    photo.convert("CMYK").save(path("cmyk-profile.jpg"), quality=95, icc_profile=cmyk_profile())
    ycck("ycck.jpg")
    cjpeg(photo, "rgb.jpg", "-rgb")
    cjpeg(photo, "arithmetic.jpg", "-arithmetic")
    cjpeg(photo, "arithmetic-progressive.jpg", "-arithmetic", "-progressive")
    cjpeg(photo, "restarts.jpg", "-restart", "1")
    cjpeg(photo, "440.jpg", "-sample", "1x2")
    cjpeg(photo, "411.jpg", "-sample", "4x1")
    cjpeg(photo, "luma-1x1-chroma-2x2.jpg", "-sample", "1x1,2x2,2x2")
    cjpeg(photo.crop((0, 0, 1, 1)), "one-pixel.jpg")
    # A baseline image of three scans, one per component.
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as scans:
        scans.write("0;\n1;\n2;\n")
        scans.flush()
        cjpeg(photo, "separate.jpg", "-scans", scans.name)
    # Rotated, with colours of another space, in ten scans: for previews.
    turned = patches().resize((96, 64), Image.NEAREST).transpose(TURNS[6])
    turned.save(path("progressive-turned.jpg"), quality=95, progressive=True, icc_profile=P3, exif=exif(6))
    # A progressive image with a thumbnail, a whole JPEG, in its EXIF block.
    with tempfile.NamedTemporaryFile(suffix=".jpg") as file:
        photo.resize((24, 16)).save(file.name, progressive=True)
        thumbnail = open(file.name, "rb").read()
    photo.save(path("thumbnail.jpg"), quality=80, exif=exif(1) + thumbnail)


def make_png(photo):
    photo.save(path("photo.png"))
    veil(96, 64).save(path("alpha.png"))
    photo.convert("L").save(path("grey.png"))
    photo.convert("L").convert("LA").save(path("grey-alpha.png"))
    photo.convert("1").save(path("bilevel.png"))
    photo.quantize(64).save(path("palette.png"))
    photo.quantize(64).save(path("palette-transparent.png"), transparency=0)
    write("interlaced.png", interlaced(photo))
    write("grey16.png", deep(photo.convert("L"), 1))
    write("alpha16.png", deep(veil(96, 64), 4))
    opaque = photo.convert("RGBA")
    opaque.save(path("opaque-alpha.png"))
    patches().save(path("display-p3.png"), icc_profile=P3)
    row = b"\0" + bytes([64, 128, 192] * 8)
    write("gamma-linear.png", png(8, 8, 8, 2, row * 8, chunk(b"gAMA", struct.pack(">I", 100000))))
    photo.transpose(Image.ROTATE_90).save(path("orientation-6.png"), exif=exif(6))
    frames = [scene(24, 16).rotate(angle) for angle in (0, 90, 180)]
    frames[0].save(path("animated.png"), save_all=True, append_images=frames[1:], duration=[100, 200, 50], loop=3)
    # A line for each kind: name, width, height, the file and its straight RGBA pixels, both in hexadecimal digits.
    with open(path("png/png-kinds.txt"), "w") as file:
        for name, width, height, data, pixels in kinds():
            file.write(f"{name} {width} {height} {data.hex()} {pixels.hex()}\n")
    # The header of a decompression bomb; the little data that follows is never reached.
    write("bomb.png", png(60000, 60000, 8, 6, b"\0" * 700_000))


def make_gif(photo):
    def field(color, box):
        frame = Image.new("P", (40, 30), 0)
        frame.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])
        frame.paste(color, box)
        return frame

    frames = [field(1, (4, 6, 20, 16)), field(2, (10, 10, 30, 20)), field(3, (0, 0, 8, 8))]
    frames[0].save(path("animated.gif"), save_all=True, append_images=frames[1:], duration=[100, 50, 0], loop=0,
                   transparency=0, disposal=2)
    frames[0].save(path("once.gif"), save_all=True, append_images=frames[1:2], duration=[100, 100], transparency=0,
                   disposal=2)
    photo.quantize(128).save(path("photo.gif"), interlace=1)
    photo.quantize(128).save(path("plain.gif"), interlace=0)
    # A logical screen of 65535 × 65535 with a frame of one pixel.
    write("huge-screen.gif", b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0x80, 0, 0) + bytes(6)
          + b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00\x3b")
    # No logical screen at all: the frame has the size of the image.
    write("no-screen.gif", b"GIF89a" + struct.pack("<HHBBB", 0, 0, 0x80, 0, 0) + bytes([255, 0, 0, 0, 0, 255])
          + b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00\x3b")


def make_webp(photo):
    photo.save(path("photo.webp"), quality=90, method=6)
    veil(96, 64).save(path("alpha.webp"), lossless=True, exact=True)
    patches().save(path("display-p3.webp"), lossless=True, icc_profile=P3)
    photo.transpose(Image.ROTATE_90).save(path("orientation-6.webp"), quality=90, exif=exif(6))
    frames = [scene(24, 16).rotate(angle) for angle in (0, 90, 180)]
    frames[0].save(path("animated.webp"), save_all=True, append_images=frames[1:], duration=[100, 200, 50], loop=2,
                   lossless=True)


def ramps():
    """Ramps of red, green and blue."""
    image = Image.new("RGB", (64, 8))
    for x, y in ((x, y) for y in range(8) for x in range(64)):
        image.putpixel((x, y), (x * 255 // 63, 255 - x * 255 // 63, (x * 4 + y * 32) % 256))
    return image


def make_avif(photo):
    def encode(image, name, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "source.png")
            image.save(source, icc_profile=image.info.get("icc_profile"))
            command = ["avifenc", *arguments, "-s", "4", source, path(name)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    fine = ["--min", "8", "--max", "12"]
    encode(photo, "photo.avif", *fine)
    encode(veil(96, 64), "alpha.avif", *fine, "-y", "444")
    encode(photo, "deep.avif", *fine, "-d", "10", "-y", "444")
    # Stored rotated, with an `irot` by which the image is displayed upright.
    encode(photo.transpose(Image.ROTATE_270), "rotated.avif", *fine, "--irot", "1")
    encode(photo.transpose(Image.FLIP_LEFT_RIGHT), "mirrored.avif", *fine, "--imir", "1")
    # Eight greys, 0, 32 … 224, with the transfer curve PQ.
    steps = Image.new("RGB", (64, 8))
    for x in range(64):
        steps.paste((x // 8 * 32,) * 3, (x, 0, x + 1, 8))
    encode(steps, "pq.avif", "-l", "--cicp", "1/16/0")
    for name, depth in (("limited.avif", "8"), ("limited-deep.avif", "10")):
        encode(ramps(), name, "--min", "0", "--max", "0", "-d", depth, "-y", "444", "-r", "limited", "--cicp", "1/13/1")
    # The kinds of AV1 data: without colours, of every depth and layout, of odd sizes, in several tiles, with grain.
    encode(scene(33, 21), "grey-odd.avif", *fine, "-y", "400")
    encode(veil(45, 31), "alpha-premultiplied.avif", *fine, "-y", "420", "-p")
    encode(veil(45, 31), "alpha-deep.avif", *fine, "-d", "12", "-y", "422", "-r", "limited")
    encode(scene(80, 60), "cropped.avif", *fine, "-d", "10", "-y", "420", "--crop", "10,12,40,30", "--irot", "3",
           "--imir", "0")
    encode(scene(129, 67), "tiles.avif", *fine, "-y", "420", "--tilecolslog2", "1", "--tilerowslog2", "1")
    encode(scene(67, 35), "grainy.avif", *fine, "-y", "420", "-a", "film-grain-test=1")
    encode(scene(128, 64), "grid.avif", *fine, "-y", "444", "-g", "2x1")
    # A strip of two parts that are much taller: the size in the container is reduced afterwards.
    encode(scene(200, 100), "grid-strip.avif", *fine, "-y", "444", "-g", "2x1")
    with open(path("grid-strip.avif"), "rb") as file:
        content = file.read()
    for start, kind in ((b"ispe" + bytes(4), ">II"), (bytes([0, 0, 0, 1]), ">HH")):
        assert content.count(start + struct.pack(kind, 200, 100)) == 1
        content = content.replace(start + struct.pack(kind, 200, 100), start + struct.pack(kind, 190, 40))
    with open(path("grid-strip.avif"), "wb") as file:
        file.write(content)
    # This encoder leaves out the ends of the range in the alpha, too.
    encode(veil(96, 64), "alpha-limited.avif", "-c", "svt", "-y", "420")
    marked = patches()
    marked.info["icc_profile"] = P3
    encode(marked, "display-p3.avif", *fine, "-y", "444")


# --------------------------------------------------------------------------------------------- GIF by hand

def packed(indices, bits):
    """LZW as a GIF has it, in blocks: first the size of the codes, at last a block of no bytes."""
    clear, codes, size = 1 << bits, [], bits + 1
    table, string = {(i,): i for i in range(clear)}, ()
    out = [(clear, size)]
    for index in indices:
        if string + (index,) in table:
            string += (index,)
            continue
        out.append((table[string], size))
        if len(table) + 2 < 4096:
            table[string + (index,)] = len(table) + 2
            size = max(size, (len(table) + 1).bit_length())
        else:
            out.append((clear, 12))
            table, size = {(i,): i for i in range(clear)}, bits + 1
        string = (index,)
    out += [(table[string], size), (clear + 1, size if (len(table) + 2) < 1 << size else size + 1)]
    word, count, data = 0, 0, bytearray()
    for code, length in out:
        word |= code << count
        count += length
        while count >= 8:
            data.append(word & 255)
            word, count = word >> 8, count - 8
    data.append(word & 255)
    blocks = [bytes(data[i:i + 255]) for i in range(0, len(data), 255)]
    return bytes([bits]) + b"".join(bytes([len(block)]) + block for block in blocks) + b"\0"


def frame(box, indices, delay=10, disposal=0, transparent=None, interlaced=False, palette=None, bits=3):
    """A frame with its control block; box is x, y, width, height."""
    flags = disposal << 2 | (transparent is not None)
    control = b"\x21\xf9\x04" + struct.pack("<BHB", flags, delay, transparent or 0) + b"\0"
    table = 0x80 | (len(palette) // 3).bit_length() - 2 if palette else 0
    width, height = box[2:]
    if interlaced:
        order = [y for start, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(start, height, step)]
        indices = [i for y in order for i in indices[y * width:(y + 1) * width]]
    descriptor = b"\x2c" + struct.pack("<HHHHB", *box, table | 0x40 * interlaced)
    return control + descriptor + (palette or b"") + packed(indices, bits)


def coalesced(name, result):
    """The frames as ImageMagick composes them, one below the other."""
    subprocess.run(["convert", path(name), "-coalesce", "-append", f"PNG32:{path('gif/' + result)}"], check=True)


def make_frames():
    """Every feature of GIF frames."""
    colors = bytes(c for i in range(8) for c in (30 * i, 255 - 25 * i, 90 + (i * 67) % 160))
    others = bytes(c for i in range(16) for c in (255 - 12 * i, 16 * i, (i * 91) % 256))

    def stripes(width, height, step, count=8):
        return [(x * step + y * 3 + x * y // 7) % count for y in range(height) for x in range(width)]

    data = b"GIF89a" + struct.pack("<HHBBB", 24, 18, 0x82, 5, 0) + colors
    data += b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x05\x00\x00"
    data += frame((0, 0, 24, 18), stripes(24, 18, 1), 7, 1)
    data += frame((4, 3, 10, 9), stripes(10, 9, 2), 12, 1, transparent=3)
    data += frame((8, 2, 12, 14), stripes(12, 14, 3), 0, 3, transparent=1, interlaced=True)
    data += frame((2, 8, 9, 9), stripes(9, 9, 1, 16), 5, 2, palette=others, bits=4)
    data += frame((12, 0, 12, 6), stripes(12, 6, 5), 9, 3)
    data += frame((0, 0, 5, 18), stripes(5, 18, 1), 9, 3, transparent=0)
    data += frame((10, 6, 8, 11), stripes(8, 11, 7), 1, 2, transparent=2, interlaced=True)
    data += frame((0, 0, 24, 18), stripes(24, 18, 3), 2, 2, transparent=4)
    data += frame((6, 6, 6, 6), stripes(6, 6, 1), 8, 0)
    data += frame((0, 12, 24, 6), stripes(24, 6, 1, 16), 8, 1, transparent=9, palette=others, bits=4)
    write("frames.gif", data + b"\x3b")
    coalesced("frames.gif", "frames-coalesced.png")
    # Codes of all lengths, and a table that runs full: noise of 256 greys.
    noise, state = [], 1
    for _ in range(160 * 90):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        noise.append(state >> 16 & 255)
    greys = bytes(c for i in range(256) for c in (i, i, i))
    screen = b"GIF87a" + struct.pack("<HHBBB", 160, 90, 0xF7, 0, 0) + greys
    write("noise.gif", screen + frame((0, 0, 160, 90), noise, bits=8)[8:] + b"\x3b")


def make_dancer():
    """Eight frames that replace each other, of a tenth of a second each, without end."""
    frames = []
    for i in range(8):
        figure = Image.new("P", (365, 360), 0)
        figure.putpalette([255, 255, 255, 250, 220, 60, 120, 80, 20, 30, 30, 30])
        figure.paste(1, (60 + 6 * i, 64, 250 + 4 * i, 300 + 5 * (i % 3)))
        figure.paste(2, (90 + 6 * i, 20 + 3 * i, 140 + 6 * i, 90))
        figure.paste(3, (300 - 20 * i, 310, 330 - 20 * i, 352))
        frames.append(figure)
    frames[0].save(path("dancer.gif"), save_all=True, append_images=frames[1:], duration=100, loop=0, transparency=0,
                   disposal=2)

# --------------------------------------------------------------------------------------------- animations, part by part

def patch(size, color, hole=False, translucent=False):
    """A part of an animation: one colour, with a transparent hole, or an alpha that falls to the right."""
    image = Image.new("RGBA", size, color + (255,))
    for x in range(size[0]):
        for y in range(size[1]):
            if hole and 2 <= x < 5 and 2 <= y < 5:
                image.putpixel((x, y), (0, 0, 0, 0))
            elif translucent:
                image.putpixel((x, y), color + (255 - 20 * x,))
    return image


def parts(translucent):
    """The contents of the frames and their places; the first covers everything."""
    return [((0, 0), patch((16, 12), (200, 40, 40), hole=True)),
            ((2, 2), patch((8, 6), (40, 200, 40), hole=True, translucent=translucent)),
            ((6, 4), patch((8, 8), (40, 40, 200), hole=True, translucent=translucent)),
            ((0, 6), patch((12, 6), (220, 220, 40), translucent=translucent))]


def strip(name):
    """The frames as Pillow composes them, one below the other."""
    with Image.open(path(name)) as animation:
        result = Image.new("RGBA", (animation.width, animation.height * animation.n_frames))
        for index in range(animation.n_frames):
            animation.seek(index)
            result.paste(animation.convert("RGBA"), (0, index * animation.height))
    stem, extension = name.rsplit(".", 1)
    result.save(path(f"{extension}/{stem}.frames.png"))


def rows(image):
    return zlib.compress(b"".join(b"\0" + image.crop((0, y, image.width, y + 1)).tobytes()
                                  for y in range(image.height)), 9)


def apng(frames, loops=0, color=6, default=None, extra=b""):
    """An animated PNG: frames of ((x, y), image, dispose, blend, (numerator, denominator))."""
    size = (default or frames[0][1]).size
    number, body = 0, b""
    if default:
        body += chunk(b"IDAT", rows(default))
    for index, ((x, y), image, dispose, blend, delay) in enumerate(frames):
        body += chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, *image.size, x, y, *delay, dispose, blend))
        number += 1
        data = rows(image)
        if index == 0 and not default:
            body += chunk(b"IDAT", data)
            continue
        # In two pieces, as an encoder with a small buffer writes it.
        for piece in (data[:20], data[20:]):
            body += chunk(b"fdAT", struct.pack(">I", number) + piece)
            number += 1
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *size, 8, color, 0, 0, 0)) + extra
            + chunk(b"acTL", struct.pack(">II", len(frames), loops)) + body + chunk(b"IEND", b""))


def make_apng(_):
    for dispose in range(3):
        for blend in range(2):
            # Pillow lays translucent pixels over others in its own way: there are none.
            frames = [(place, image, dispose, blend, (1, 10)) for place, image in parts(translucent=False)]
            name = f"apng-{'nbp'[dispose]}{'so'[blend]}.png"
            write(name, apng(frames))
            if (dispose, blend) != (2, 1):
                strip(name)
    # Pillow 9.4 does not dispose of such frames, so here they are composed on an empty canvas by hand.
    result = Image.new("RGBA", (16, 48))
    for index, (place, image) in enumerate(parts(translucent=False)):
        result.paste(image, (place[0], place[1] + 12 * index))
    result.save(path("apng-po.frames.png"))
    frames = [(place, image, 0, 1, delay) for (place, image), delay
              in zip(parts(False)[:3], [(7, 0), (1, 1000), (3, 2)])]
    write("apng-hidden.png", apng(frames, loops=5, default=patch((16, 12), (9, 9, 9))))
    # Colours by a palette with transparency, which belong to all frames.
    indices = [Image.new("L", (8, 6), 0), Image.new("L", (4, 4), 1), Image.new("L", (2, 2), 2)]
    frames = [((i, i), image, 0, 1, (1, 10)) for i, image in enumerate(indices)]
    palette = chunk(b"PLTE", bytes([255, 0, 0, 0, 255, 0, 0, 0, 255])) + chunk(b"tRNS", bytes([255, 255, 0]))
    write("apng-palette.png", apng(frames, color=3, extra=palette))


def make_animated_webp(_):
    for dispose in range(2):
        for blend in "+-":
            name = f"webp-{'nb'[dispose]}{'o' if blend == '+' else 's'}.webp"
            with tempfile.TemporaryDirectory() as folder:
                command = ["webpmux"]
                for index, ((x, y), image) in enumerate(parts(translucent=True)):
                    source = os.path.join(folder, f"{index}.webp")
                    image.save(source, lossless=True, exact=True)
                    command += ["-frame", source, f"+{50 + index * 10}+{x}+{y}+{dispose}{blend}b"]
                subprocess.run(command + ["-loop", "3", "-o", path(name)], check=True, stderr=subprocess.DEVNULL)
            strip(name)


def make_sequences(photo):
    def encode(images, name, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            command = ["avifenc", "--timescale", "100", "--min", "4", "--max", "8", "-s", "6", "-y", "444", *arguments]
            for index, image in enumerate(images):
                source = os.path.join(folder, f"{index}.png")
                image.save(source, icc_profile=image.info.get("icc_profile"))
                command += ["--duration", str(5 + 5 * index), source]
            subprocess.run(command + [path(name)], check=True, stdout=subprocess.DEVNULL)

    turned = [scene(48, 48).rotate(angle) for angle in (0, 90, 180, 270, 0, 90)]
    encode(turned, "sequence.avif", "--keyframe", "3")
    encode([image.convert("RGBA") for image in map(lambda i: veil(48, 32).rotate(i, fillcolor=(0, 0, 0, 0)), (0, 180))],
           "sequence-alpha.avif")
    marked = [patches().rotate(angle) for angle in (0, 90, 180, 270, 0)]
    for image in marked:
        image.info["icc_profile"] = P3
    encode(marked, "sequence-p3.avif")
    encode([scene(67, 35), scene(67, 35).rotate(180)], "sequence-grainy.avif", "-y", "420", "-a", "film-grain-test=1")
    for index in range(3):
        turned[index].save(path(f"avif/sequence-{index}.png"))


# --------------------------------------------------------------------------------------------- right pixels

def as_shown(*names):
    """Files as Pillow shows them, beside them, in 8 bits a component and without a palette."""
    for name in names:
        with Image.open(path(name)) as image:
            stem, extension = name.rsplit(".", 1)
            image.convert("RGBA").save(path(f"{FOLDERS.get(extension, extension)}/{stem}.pixels.png"), optimize=True)


def seen_by_avifdec(name):
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "seen.png")
        subprocess.run(["avifdec", "-d", "8", path(name), place], check=True, stdout=subprocess.DEVNULL)
        with Image.open(place) as image:
            return image.convert("RGB")


def encoded(light):
    """The byte of sRGB for a share of white."""
    light = min(max(light, 0), 1)
    return round(255 * (light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055))


def in_srgb(image):
    """Colours of Display P3 as those of sRGB, by the matrix between the two."""
    def shown(pixel):
        light = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in pixel)]
        return tuple(encoded(sum(m * c for m, c in zip(row, light))) for row in (
            (1.2249402, -0.2249402, 0), (-0.0420569, 1.0420569, 0), (-0.0196376, -0.0786361, 1.0982735)))

    result = Image.new("RGB", image.size)
    result.putdata([shown(pixel) for pixel in image.getdata()])
    return result


def make_pixels():
    as_shown("palette.png", "palette-transparent.png", "bilevel.png", "grey.png", "noise.gif", "no-screen.gif")
    with Image.open(path("grey.jpg")) as image:
        image.convert("RGB").save(path("jpeg/grey-jpeg.pixels.png"))
    coalesced("animated.gif", "animated.frames.png")
    for name in ("animated.png", "once.gif", "dancer.gif", "animated.webp"):
        strip(name)
    Image.new("RGB", (8, 8), tuple(encoded(v / 255) for v in (64, 128, 192))).save(path("gamma-linear.pixels.png"))
    in_srgb(patches()).save(path("png/display-p3.pixels.png"))
    in_srgb(patches().resize((16, 16), Image.NEAREST)).save(path("bmp/display-p3-small.pixels.png"))
    patches().save(path("jpeg/srgb-profile.pixels.png"))
    turned = in_srgb(patches().resize((96, 64), Image.NEAREST))
    turned.save(path("jpeg/progressive-turned.pixels.png"))
    with Image.open(path("cmyk-profile.jpg")) as inks:
        press = ImageCms.ImageCmsProfile(io.BytesIO(inks.info["icc_profile"]))
        ImageCms.profileToProfile(inks, press, ImageCms.createProfile("sRGB"), outputMode="RGB",
                                  renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
                                  flags=ImageCms.FLAGS["BLACKPOINTCOMPENSATION"]).save(
            path("jpeg/cmyk-profile.pixels.png"), icc_profile=None)
    ramps().save(path("avif/limited.pixels.png"))
    seen_by_avifdec("grainy.avif").save(path("avif/grainy.pixels.png"))
    # Which does neither crop nor turn.
    whole = seen_by_avifdec("cropped.avif")
    whole.crop((10, 12, 50, 42)).transpose(Image.ROTATE_270).transpose(Image.FLIP_TOP_BOTTOM).save(
        path("avif/cropped.pixels.png"))
    scene(33, 21).convert("L").convert("RGB").save(path("avif/grey-odd.pixels.png"))
    drawing = Image.new("RGBA", (40, 20), (0, 0, 255, 128))
    drawing.paste((255, 0, 0, 255), (0, 0, 20, 20))
    drawing.save(path("svg/drawing.pixels.png"))


if __name__ == "__main__":
    image = scene(96, 64)
    for make in (make_jpeg, make_gain_map, make_jpeg_variants, make_png, make_gif, make_webp, make_avif, make_apng,
                 make_animated_webp, make_sequences):
        make(image)
    make_frames()
    make_dancer()
    make_pixels()
