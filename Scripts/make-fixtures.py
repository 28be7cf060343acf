#!/usr/bin/env python3
"""Makes the pictures that the tests decode, with other people's encoders as a yardstick.

Needs Pillow (apt: python3-pil) and, for AVIF, avifenc (apt: libavif-bin). The pictures are committed, so the tests need
neither. Run from anywhere: Scripts/make-fixtures.py
"""
import os
import struct
import subprocess
import tempfile
import zlib

from PIL import Image

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "KFImagingTests", "Fixtures")


def path(name):
    return os.path.join(OUT, name)


def scene(width, height):
    """A smooth picture without symmetry: every turn and every shift of it is another picture."""
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
    """Four fields of colours that have a place in both sRGB and Display P3."""
    image = Image.new("RGB", (32, 32))
    for i, color in enumerate([(200, 100, 80), (90, 180, 110), (60, 80, 190), (128, 128, 128)]):
        image.paste(color, (16 * (i % 2), 16 * (i // 2), 16 * (i % 2) + 16, 16 * (i // 2) + 16))
    return image


# --------------------------------------------------------------------------------------------- the pictures

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
    patches().save(path("display-p3.jpg"), quality=98, subsampling=0, icc_profile=P3)
    patches().save(path("srgb-profile.jpg"), quality=98, subsampling=0, icc_profile=SRGB)
    # Stored turned, labelled so that all eight are displayed alike.
    for orientation, turn in TURNS.items():
        stored = photo if turn is None else photo.transpose(turn)
        stored.save(path(f"orientation-{orientation}.jpg"), quality=90, exif=exif(orientation))


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
    # What a decompression bomb says about itself; the little data that follows is never reached.
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
    # No logical screen at all: the frame says how large the picture is.
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


def make_avif(photo):
    def encode(image, name, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "source.png")
            image.save(source)
            command = ["avifenc", *arguments, "-s", "4", source, path(name)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    fine = ["--min", "8", "--max", "12"]
    encode(photo, "photo.avif", *fine)
    encode(veil(96, 64), "alpha.avif", *fine, "-y", "444")
    encode(photo, "deep.avif", *fine, "-d", "10", "-y", "444")
    # Stored turned anticlockwise by `irot`, so that the picture is displayed upright.
    encode(photo.transpose(Image.ROTATE_270), "rotated.avif", *fine, "--irot", "1")
    encode(photo.transpose(Image.FLIP_LEFT_RIGHT), "mirrored.avif", *fine, "--imir", "1")


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    picture = scene(96, 64)
    for make in (make_jpeg, make_png, make_gif, make_webp, make_avif):
        make(picture)
