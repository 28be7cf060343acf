#!/usr/bin/env python3
"""Makes the BMP, ICO and TIFF images that the tests decode.

Needs Pillow (apt: python3-pil), ImageMagick (apt: imagemagick) and tiffcp (apt: libtiff-tools). The images are committed, so
the tests need none of them. Run from anywhere: Scripts/make-bitmap-fixtures.py
"""
import importlib.util
import io
import os
import random
import struct
import subprocess
import tempfile

from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("fixtures", os.path.join(HERE, "make-fixtures.py"))
fixtures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fixtures)

WIDTH, HEIGHT = 7, 5
CLEAR = (0, 0, 0, 0)


def header(length, depth, compression=0, masks=(), colors=0, width=WIDTH, height=HEIGHT, color_space=0,
           profile=(0, 0)):
    """A header of any length that was in use; masks that do not fit are behind it."""
    if length == 12:
        return struct.pack("<IHHHH", 12, width, height, 1, depth)
    fields = struct.pack("<IiiHHIIiiII", length, width, height, 1, depth, compression, 0, 2835, 2835, colors, 0)
    if length <= 40:
        return fields[:length] + b"".join(struct.pack("<I", mask) for mask in masks)
    fields += b"".join(struct.pack("<I", mask) for mask in masks).ljust(16, b"\0")
    fields += struct.pack("<I", color_space) + bytes(36 + 12 + 4) + struct.pack("<III", *profile, 0)
    return fields[:length]


def file(head, palette, body):
    offset = 14 + len(head) + len(palette)
    return b"BM" + struct.pack("<IHHI", offset + len(body), 0, 0, offset) + head + palette + body


def packed(rows, depth):
    """Values side by side from the highest bit on (whole bytes: the lowest first), rows padded to four bytes."""
    body = b""
    for row in rows:
        if depth >= 8:
            line = b"".join(value.to_bytes(depth // 8, "little") for value in row)
        else:
            bits = "".join(format(value, f"0{depth}b") for value in row)
            bits += "0" * (-len(bits) % 8)
            line = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        body += line + bytes(-len(line) % 4)
    return body


def scaled(value, mask):
    """The bits under a mask as 0…255."""
    if mask == 0:
        return 0
    shift = (mask & -mask).bit_length() - 1
    most = mask >> shift
    return ((value & mask) >> shift) * 510 // most + 1 >> 1


def table(colors, length):
    return b"".join(bytes(color[2::-1]) + (b"" if length == 12 else b"\0") for color in colors)


def indexed(dice):
    for length in (12, 16, 40, 52, 56, 64, 108, 124):
        for depth in (1, 2, 4, 8):
            if depth != 4 and length in (16, 52, 56, 108):
                continue
            count = min(1 << depth, 20) if length != 12 else 1 << depth
            colors = [tuple(dice.randrange(256) for _ in range(3)) + (255,) for _ in range(count)]
            values = [[dice.randrange(count) for _ in range(WIDTH)] for _ in range(HEIGHT)]
            down = depth == 8 and length == 124
            head = header(length, depth, colors=count if count < 1 << depth else 0, height=-HEIGHT if down else HEIGHT)
            body = packed(values if down else values[::-1], depth)
            yield f"palette{depth}-header{length}{'-down' * down}", file(head, table(colors, length), body), \
                [[colors[value] for value in row] for row in values]


def direct(dice):
    kinds = [
        ("rgb16", 40, 16, 0, (), (0x7C00, 0x3E0, 0x1F, 0)),
        ("rgb24", 40, 24, 0, (), (0xFF0000, 0xFF00, 0xFF, 0)), ("rgb24", 12, 24, 0, (), (0xFF0000, 0xFF00, 0xFF, 0)),
        ("rgb32", 40, 32, 0, (), (0xFF0000, 0xFF00, 0xFF, 0)),
        ("rgba32", 40, 32, 0, (), (0xFF0000, 0xFF00, 0xFF, 0xFF000000)),
        ("565", 40, 16, 3, 3, (0xF800, 0x7E0, 0x1F, 0)), ("565", 124, 16, 3, 4, (0xF800, 0x7E0, 0x1F, 0)),
        ("4444", 56, 16, 3, 4, (0xF00, 0xF0, 0xF, 0xF000)), ("1555", 108, 16, 3, 4, (0x7C00, 0x3E0, 0x1F, 0x8000)),
        ("alphabitfields", 40, 32, 6, 4, (0xFF, 0xFF00, 0xFF0000, 0xFF000000)),
        ("odd-masks", 52, 32, 3, 3, (0x7F, 0x3FF000, 0xC0000000, 0)),
        ("wide-masks", 56, 32, 3, 4, (0xFFFF0000, 0x8000, 0x7F00, 0xFF)),
        ("rgba32", 124, 32, 3, 4, (0xFF0000, 0xFF00, 0xFF, 0xFF000000)),
    ]
    for name, length, depth, compression, count, masks in kinds:
        values = [[dice.randrange(1 << depth) for _ in range(WIDTH)] for _ in range(HEIGHT)]
        if name == "rgb32":
            values = [[value & 0xFFFFFF for value in row] for row in values]
        head = header(length, depth, compression, masks[:count] if count else ())
        pixels = [[tuple(scaled(value, mask) for mask in masks[:3]) + (scaled(value, masks[3]) if masks[3] else 255,)
                   for value in row] for row in values]
        yield f"{name}-header{length}", file(head, b"", packed(values[::-1], depth)), pixels


def runs(dice):
    """Rows as runs, with the meaning of each below; rows are listed from the bottom, where the file begins."""
    colors = [tuple(dice.randrange(256) for _ in range(3)) + (255,) for _ in range(16)]
    a, b, c, d = colors[:4]
    whole = [[a] * 7, [b] * 3 + [c] * 4, [a, b, c, d, a, b, c], [d] * 7, [c] * 2 + [a] * 5]
    rle8 = bytes([7, 0, 0, 0, 3, 1, 4, 2, 0, 0, 0, 7, 0, 1, 2, 3, 0, 1, 2, 0, 0, 0, 7, 3, 0, 0, 2, 2, 5, 0, 0, 0, 0, 1])
    yield "rle8", 8, 1, rle8, whole
    # Two pixels, over three and two rows up, one pixel, and on.
    steps = [[a, a] + [CLEAR] * 5, [CLEAR] * 7, [CLEAR] * 5 + [b] + [CLEAR], [c] * 7, [CLEAR] * 7]
    yield "rle8-steps", 8, 1, bytes([2, 0, 0, 2, 3, 2, 1, 1, 0, 0, 9, 2, 0, 1]), steps
    yield "rle8-cut", 8, 1, rle8[:9], [[a] * 7, [b] * 3 + [c] * 4] + [[CLEAR] * 7] * 3
    pairs = [[a, b] * 3 + [a], [c] * 7, [a, b, c, d, a] + [CLEAR] * 2, [CLEAR] * 7, [d, CLEAR, CLEAR, b, a, b, a]]
    rle4 = bytes([7, 0x01, 0, 0, 7, 0x22, 0, 0, 0, 5, 0x01, 0x23, 0x00, 0, 0, 0, 0, 0,
                  1, 0x30, 0, 2, 2, 0, 4, 0x10, 0, 1])
    yield "rle4", 4, 2, rle4, pairs
    colored = [[a] * 7, [b, c, d, a, b, c, d], [CLEAR] * 7, [c] * 3 + [d] * 4, [b] * 7]
    bgr = lambda color: bytes(color[2::-1])
    rle24 = bytes([7]) + bgr(a) + bytes([0, 0, 0, 7]) + b"".join(bgr(color) for color in colored[1]) + bytes([0, 0, 0])
    rle24 += bytes([0, 0, 3]) + bgr(c) + bytes([4]) + bgr(d) + bytes([0, 0, 7]) + bgr(b) + bytes([0, 1])
    yield "rle24", 24, 4, rle24, colored


def kinds():
    """Every kind of header, depth and storage: name, the file, pixels as straight RGBA."""
    dice = random.Random(11)
    yield from indexed(dice)
    yield from direct(dice)
    dice = random.Random(12)
    colors = [tuple(dice.randrange(256) for _ in range(3)) + (255,) for _ in range(16)]
    for name, depth, compression, body, rows in runs(random.Random(12)):
        palette = table(colors, 40) if depth < 24 else b""
        length = 64 if depth == 24 else 40
        yield name, file(header(length, depth, compression, colors=16 if depth < 24 else 0), palette, body), rows[::-1]


def magick(data, *arguments):
    return subprocess.run(["convert", *arguments], input=data, check=True, stdout=subprocess.PIPE).stdout


def seen_by_others(name, data, pixels):
    """Other programs that read these pixels; transparent ones count as any colour (some return the first one)."""
    seen = []
    try:
        image = list(Image.open(io.BytesIO(data)).convert("RGBA").getdata())
        seen += ["Pillow"] * all(p[3] < 255 or p == q for p, q in zip(sum(pixels, []), image))
    except Exception:
        pass
    other = subprocess.run(["convert", "bmp:-", "-depth", "8", "rgba:-"], input=data, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL).stdout
    other = [tuple(other[i:i + 4]) for i in range(0, len(other), 4)]
    near = lambda p, q: all(abs(x - y) <= 1 for x, y in zip(p, q))
    seen += ["ImageMagick"] * (len(other) >= 35 and all(p[3] < 255 or near(p, q) for p, q in zip(sum(pixels, []), other)))
    return seen


def make_bmp(photo):
    with open(fixtures.path("bmp/bmp-kinds.txt"), "w") as out:
        for name, data, pixels in kinds():
            print(f"{name}: {', '.join(seen_by_others(name, data, pixels)) or 'by no other program'}")
            straight = bytes(value for row in pixels for pixel in row for value in pixel)
            out.write(f"{name} {WIDTH} {HEIGHT} {data.hex()} {straight.hex()}\n")
    photo.quantize(64).save(fixtures.path("palette.bmp"))
    photo.convert("1").save(fixtures.path("bilevel.bmp"))
    photo.convert("L").save(fixtures.path("grey.bmp"))
    with open(fixtures.path("palette.png"), "rb") as file_:
        fixtures.write("runs.bmp", magick(file_.read(), "png:-", "-compress", "RLE", "bmp3:-"))
    with open(fixtures.path("alpha.png"), "rb") as file_:
        fixtures.write("alpha.bmp", magick(file_.read(), "png:-", "-crop", "40x24+0+0", "+repage", "bmp:-"))
    # The patches with a profile behind the rows, as Photoshop writes it.
    patches = fixtures.patches().resize((16, 16), Image.NEAREST)
    rows = [[r << 16 | g << 8 | b for r, g, b in (patches.getpixel((x, y)) for x in range(16))] for y in range(16)]
    body = packed(rows[::-1], 24)
    head = header(124, 24, width=16, height=16, color_space=0x4D424544, profile=(124 + len(body), len(fixtures.P3)))
    fixtures.write("display-p3.bmp", file(head, b"", body) + fixtures.P3)


def make_ico(photo):
    fixtures.veil(96, 64).crop((0, 8, 48, 56)).save(fixtures.path("png.ico"), sizes=[(16, 16), (48, 48)])
    fixtures.veil(96, 64).crop((0, 8, 24, 32)).save(fixtures.path("alpha.ico"), sizes=[(16, 16), (24, 24)],
                                                    bitmap_format="bmp")
    # Few colours, and a mask for transparent pixels.
    art = Image.new("RGBA", (20, 12), CLEAR)
    for index, color in enumerate([(255, 0, 0, 255), (0, 160, 80, 255), (250, 240, 60, 255)]):
        art.paste(color, (index * 6, index * 3, index * 6 + 8, index * 3 + 6))
    art.save(fixtures.path("ico/art.png"))
    with open(fixtures.path("ico/art.png"), "rb") as file_:
        icon = magick(file_.read(), "png:-", "-type", "PaletteMatte", "ico:-")
    fixtures.write("mask.ico", icon)
    # A cursor is the same with another number and a hot spot instead of planes and depth.
    fixtures.write("mask.cur", icon[:2] + b"\2" + icon[3:10] + struct.pack("<HH", 3, 5) + icon[14:])


# --------------------------------------------------------------------------------------------- TIFF

WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, INKS = 0, 1, 2, 3, 5


def tiff(width, height, depth, photometric, rows, extra=None, colormap=None, separate=False):
    """One strip without compression, or one a plane, the lowest byte first; a pixel is a tuple of samples."""
    samples = len(rows[0][0])
    body = b""
    strips = 1
    if separate:
        strips = samples
        rows = [[(pixel[plane],) for pixel in row] for plane in range(samples) for row in rows]
    for row in rows:
        values = [value for pixel in row for value in pixel]
        if depth == 16:
            body += struct.pack(f"<{len(values)}H", *values)
        else:
            bits = "".join(format(value, f"0{depth}b") for value in values)
            bits += "0" * (-len(bits) % 8)
            body += bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
    tags = {256: [width], 257: [height], 258: [depth] * samples, 259: [1], 262: [photometric],
            273: [8 + i * len(body) // strips for i in range(strips)], 277: [samples], 278: [height],
            279: [len(body) // strips] * strips, 284: [2 if separate else 1]}
    if extra is not None:
        tags[338] = extra
    if colormap:
        tags[320] = colormap
    body += bytes(len(body) % 2)
    directory, spare = b"", b""
    start = 8 + len(body)
    for tag, values in sorted(tags.items()):
        content = struct.pack(f"<{len(values)}H", *values)
        if len(content) > 4:
            place = start + 2 + 12 * len(tags) + 4 + len(spare)
            spare += content
            content = struct.pack("<I", place)
        directory += struct.pack("<HHI", tag, 3, len(values)) + content.ljust(4, b"\0")
    return (b"II*\0" + struct.pack("<I", start) + body + struct.pack("<H", len(tags)) + directory + bytes(4) + spare)


def rounded(value, depth):
    most = (1 << depth) - 1
    return (2 * value * 255 + most) // (2 * most)


def meaning(pixel, depth, photometric, extra, colormap):
    """Red, green, blue and straight alpha, 0…255."""
    most = (1 << depth) - 1
    if photometric == PALETTE:
        count = 1 << depth
        alpha = rounded(pixel[1], depth) if extra else 255
        return tuple(rounded(colormap[pixel[0] + i * count], 16) for i in range(3)) + (alpha,)
    colors = {RGB: 3, INKS: 4}.get(photometric, 1)
    if photometric == RGB and extra is None and len(pixel) == 4:
        extra = [2]
    alpha = next(((colors + i, kind) for i, kind in enumerate(extra or []) if kind), None)
    values, level = list(pixel[:colors]), most
    if alpha:
        level = pixel[alpha[0]]
        if alpha[1] == 1:
            values = [min(most, (2 * value * most + level) // (2 * level)) if level else 0 for value in values]
    if photometric == WHITE_IS_ZERO:
        values = [most - value for value in values]
    if photometric == INKS:
        inks = [255 - rounded(value, depth) for value in values]
        return tuple((2 * ink * inks[3] + 255) // 510 for ink in inks[:3]) + (rounded(level, depth),)
    return tuple(rounded(value, depth) for value in values * (3 // colors)) + (rounded(level, depth),)


def tiff_kinds():
    dice = random.Random(21)
    kinds = [("grey", BLACK_IS_ZERO, depth, 1, None) for depth in (1, 2, 4, 8, 16)]
    kinds += [("inverted", WHITE_IS_ZERO, depth, 1, None) for depth in (1, 4, 8, 16)]
    kinds += [("palette", PALETTE, depth, 1, None) for depth in (1, 2, 4, 8)]
    for depth in (8, 16):
        kinds += [("rgb", RGB, depth, 3, None), ("inks", INKS, depth, 4, None),
                  ("inks-unassociated", INKS, depth, 5, [2]), ("inks-associated", INKS, depth, 5, [1]),
                  ("unassociated", RGB, depth, 4, [2]), ("associated", RGB, depth, 4, [1]),
                  ("grey-unassociated", BLACK_IS_ZERO, depth, 2, [2]),
                  ("grey-associated", BLACK_IS_ZERO, depth, 2, [1]),
                  ("inverted-unassociated", WHITE_IS_ZERO, depth, 2, [2])]
    kinds += [("unspecified", RGB, 8, 4, [0]), ("untold", RGB, 8, 4, None), ("second-extra", RGB, 8, 5, [0, 2])]
    kinds += [("inks-unspecified", INKS, 8, 5, [0]), ("palette-unassociated", PALETTE, 8, 2, [2])]
    copies = {"grey1": [["-c", "g4"], ["-c", "g3"], ["-c", "packbits", "-f", "lsb2msb"]], "grey4": [["-t"]],
              "rgb8": [["-c", "lzw:2", "-r", "2"], ["-c", "zip"], ["-p", "separate", "-r", "2"], ["-t", "-c", "lzw"],
                       ["-t", "-p", "separate"], ["-B", "-8"]],
              "unassociated16": [["-B", "-c", "zip:2"], ["-t", "-B"], ["planes"]], "inks8": [["-t"]],
              "inks-unassociated8": [["-t"], ["-p", "separate", "-t"], ["-c", "lzw", "-r", "2"]],
              "inks-unassociated16": [["planes"]], "inks-associated16": [["-B", "-c", "zip"]],
              "palette-unassociated8": [["-c", "lzw"], ["planes"]],
              "palette4": [["-c", "packbits", "-r", "1"]], "associated8": [["-p", "separate", "-t"]]}
    for word, photometric, depth, samples, extra in kinds:
        name = f"{word}{depth}"
        for options in [None] + copies.get(name, []):
            width, height = (17, 3) if options and "-t" in options else (WIDTH, HEIGHT)
            colormap = [dice.randrange(256) * 257 for _ in range(3 << depth)] if photometric == PALETTE else None
            rows = [[tuple(dice.randrange(1 << depth) for _ in range(samples)) for _ in range(width)]
                    for _ in range(height)]
            if extra and 1 in extra:
                rows = [[tuple(min(value, pixel[-1]) for value in pixel) for pixel in row] for row in rows]
            data = tiff(width, height, depth, photometric, rows, extra, colormap, options == ["planes"])
            if options and options != ["planes"]:
                tiles = ["-w", "16", "-l", "16"] if "-t" in options else []
                data = copied(data, *options, *tiles)
            if options:
                name = f"{word}{depth}" + "".join(options)
            yield name, width, height, data, [meaning(pixel, depth, photometric, extra, colormap)
                                              for row in rows for pixel in row]


def halved(image):
    """Luma, and differences of half the width and height, as TIFF interleaves them."""
    values, rows = image.load(), []
    for y in range(0, image.height, 2):
        row = []
        for x in range(0, image.width, 2):
            square = [values[x + i, y + j] for j in (0, 1) for i in (0, 1)]
            row += [pixel[0] for pixel in square] + [sum(pixel[i] for pixel in square) // 4 for i in (1, 2)]
        rows.append([(value,) for value in row])
    data = tiff(image.width, image.height, 8, 6, rows)
    # Three samples a pixel, though a square of four has six.
    return data.replace(struct.pack("<HHIHH", 277, 3, 1, 1, 0), struct.pack("<HHIHH", 277, 3, 1, 3, 0))


def copied(data, *options):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a.tif"), os.path.join(folder, "b.tif")
        with open(source, "wb") as file_:
            file_.write(data)
        subprocess.run(["tiffcp", *options, source, target], check=True, stderr=subprocess.DEVNULL)
        with open(target, "rb") as file_:
            return file_.read()


def saved(image, **options):
    out = io.BytesIO()
    image.save(out, "TIFF", **options)
    return out.getvalue()


def tiff_seen_by_others(data, pixels):
    seen = []
    near = lambda image: all(p[3] < 255 or all(abs(x - y) <= 1 for x, y in zip(p, q)) for p, q in zip(pixels, image))
    try:
        image = Image.open(io.BytesIO(data))
        if image.mode != "CMYK" and not image.mode.startswith("I"):
            seen += ["Pillow"] * near(list(image.convert("RGBA").getdata()))
    except Exception:
        pass
    other = subprocess.run(["convert", "tiff:-", "-depth", "8", "rgba:-"], input=data, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL).stdout
    other = [tuple(other[i:i + 4]) for i in range(0, len(other), 4)]
    return seen + ["ImageMagick"] * (len(other) == len(pixels) and near(other))


def make_tiff(photo):
    # Where colours are rounded twice, a decoder may be a step away.
    with open(fixtures.path("tiff/tiff-kinds.txt"), "w") as exact, open(fixtures.path("tiff/tiff-rounded.txt"), "w") as rounded:
        for name, width, height, data, pixels in tiff_kinds():
            out = rounded if "associated16" in name or "inks" in name else exact
            print(f"{name}: {', '.join(tiff_seen_by_others(data, pixels)) or 'by no other program'}")
            straight = bytes(value for pixel in pixels for value in pixel)
            out.write(f"{name} {width} {height} {data.hex()} {straight.hex()}\n")
    write = fixtures.write
    write("photo.tiff", copied(saved(photo), "-c", "lzw:2", "-r", "16"))
    write("fax.tiff", saved(photo.convert("1"), compression="group4"))
    write("palette.tiff", saved(photo.quantize(64), compression="packbits"))
    write("alpha.tiff", copied(saved(fixtures.veil(96, 64)), "-c", "zip:2"))
    write("jpeg.tiff", saved(photo, compression="jpeg", quality=90))
    write("tiles.tiff", copied(saved(photo), "-c", "zip:2", "-t", "-w", "32", "-l", "32"))
    write("planes.tiff", copied(saved(photo), "-c", "zip:2", "-p", "separate", "-r", "16"))
    write("ycbcr.tiff", halved(photo.crop((0, 0, 48, 32)).convert("YCbCr")))
    write("lab.tiff", magick(saved(photo.crop((0, 0, 48, 32))), "tiff:-", "-colorspace", "Lab", "-compress", "Zip", "tiff:-"))
    write("orientation-6.tiff", copied(saved(photo.transpose(Image.ROTATE_90), tiffinfo={274: 6}), "-c", "zip:2"))
    write("display-p3.tiff", saved(fixtures.patches(), compression="tiff_lzw", icc_profile=fixtures.P3))
    inks = photo.convert("CMYK")
    write("cmyk.tiff", copied(saved(inks), "-c", "zip:2"))
    write("cmyk-jpeg.tiff", saved(inks, compression="jpeg", quality=92))
    with Image.open(fixtures.path("cmyk-profile.jpg")) as image:
        write("cmyk-profile.tiff", copied(saved(inks, icc_profile=image.info["icc_profile"]), "-c", "zip:2"))


if __name__ == "__main__":
    scene = fixtures.scene(96, 64)
    make_bmp(scene)
    make_ico(scene)
    make_tiff(scene)
