#!/usr/bin/env python3
"""Makes the images that the tests decode when the package is built with the traits HEIC, JXL and SVG.

Needs Pillow, heif-enc (apt: libheif-examples) and cjxl (apt: libjxl-tools). The images are committed, so the tests need
none of them. Run from anywhere: Scripts/make-optional-fixtures.py
"""
import importlib.util
import os
import struct
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("fixtures", os.path.join(HERE, "make-fixtures.py"))
fixtures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fixtures)


def encode(command, image, name, *arguments, output=(), **saving):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "source.png")
        image.save(source, **saving)
        run(command, source, name, *arguments, output=output)


def run(command, source, name, *arguments, output=()):
    subprocess.run([command, *arguments, source, *output, fixtures.path(name)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def boxes(data, start, end):
    while start < end:
        size, = struct.unpack_from(">I", data, start)
        yield data[start + 4:start + 8], start, start + size
        start += size


def turned(data):
    """A HEIC of one image with a property that rotates it anticlockwise by a quarter."""
    place = {name: (start, end) for name, start, end in boxes(data, 0, len(data))}
    place |= {name: (start, end) for name, start, end in boxes(data, place[b"meta"][0] + 12, place[b"meta"][1])}
    place |= {name: (start, end) for name, start, end in boxes(data, place[b"iprp"][0] + 8, place[b"iprp"][1])}
    data = bytearray(data)
    properties = len(list(boxes(data, place[b"ipco"][0] + 8, place[b"ipco"][1])))
    added = bytes([0, 0, 0, 9]) + b"irot" + bytes([1])
    grown = len(added) + 1
    # The data is behind all of this. heif-enc writes version 0 or 1 of the box, with numbers of four bytes.
    at = place[b"iloc"][0] + 8
    version, sizes = data[at], data[at + 4:at + 6]
    assert version < 2 and sizes[0] == 0x44 and sizes[1] == 0x40, (version, sizes)
    items, = struct.unpack_from(">H", data, at + 6)
    at += 8
    for _ in range(items):
        at += 4 + 2 * version
        base, extents = struct.unpack_from(">IH", data, at)
        struct.pack_into(">I", data, at, base + grown)
        at += 6 + 8 * extents
    entry = place[b"ipma"][0] + 8 + 4 + 4
    data[entry + 2] += 1
    for box, growth in ((b"meta", grown), (b"iprp", grown), (b"ipco", len(added)), (b"ipma", 1)):
        size, = struct.unpack_from(">I", data, place[box][0])
        struct.pack_into(">I", data, place[box][0], size + growth)
    last = entry + 3 + data[entry + 2] - 1
    data[last:last] = bytes([0x80 | (properties + 1)])
    data[place[b"ipco"][1]:place[b"ipco"][1]] = added
    return bytes(data)


def make_heic(photo):
    encode("heif-enc", photo, "photo.heic", "-q", "90", output=["-o"])
    # heif-enc writes more than eight bits only if it gets more.
    for name, image, channels in (("deep.heic", photo, 3), ("alpha-deep.heic", fixtures.veil(96, 64), 4)):
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            file.write(fixtures.deep(image, channels))
            file.flush()
            run("heif-enc", file.name, name, "-q", "95", "-b", "10", "-p", "chroma=444", output=["-o"])
    encode("heif-enc", fixtures.veil(96, 64), "alpha.heic", "-q", "95", "-p", "chroma=444", output=["-o"])
    # Stored rotated, with a box that reverses it; heif-enc writes no such box.
    encode("heif-enc", photo.transpose(fixtures.Image.ROTATE_270), "rotated.heic", "-q", "90", output=["-o"])
    with open(fixtures.path("rotated.heic"), "rb") as file:
        data = file.read()
    fixtures.write("rotated.heic", turned(data))
    encode("heif-enc", fixtures.patches(), "display-p3.heic", "-L", output=["-o"], icc_profile=fixtures.P3)


def make_jxl(photo):
    encode("cjxl", photo, "photo.jxl", "-d", "1")
    encode("cjxl", photo, "lossless.jxl", "-d", "0")
    encode("cjxl", photo.convert("L"), "grey.jxl", "-d", "0")
    encode("cjxl", fixtures.veil(96, 64), "alpha.jxl", "-d", "0")
    encode("cjxl", fixtures.patches(), "display-p3.jxl", "-d", "0", icc_profile=fixtures.P3)
    run("cjxl", fixtures.path("orientation-6.jpg"), "orientation-6.jxl", "-j", "0", "-d", "1")
    run("cjxl", fixtures.path("animated.gif"), "animated.jxl")
    with tempfile.NamedTemporaryFile(suffix=".ppm") as file:
        file.write(b"P6 72 16 255\n" + bytes(min(32 * (x // 8), 255) for x in range(72) for _ in range(3)) * 16)
        file.flush()
        for name, curve, distance in (("pq-lossless", "PeQ", "0"), ("pq", "PeQ", "0.1"), ("hlg", "HLG", "0.1")):
            run("cjxl", file.name, name + ".jxl", "-d", distance, "-x", "color_space=RGB_D65_202_Rel_" + curve)


def make_svg():
    head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
    fixtures.write("drawing.svg", (head + 'width="40" height="20">\n'
                                   '<rect width="20" height="20" fill="#ff0000"/>\n'
                                   '<rect x="20" width="20" height="20" fill="#0000ff" fill-opacity="0.5"/>\n'
                                   '</svg>\n').encode())
    fixtures.write("viewbox.svg", (head + 'viewBox="0 0 30 60"><rect width="30" height="60" fill="lime"/></svg>\n').encode())
    references = "".join(f'<image x="{10 * x}" width="10" height="10" xlink:href="{place}"/>\n' for x, place in enumerate(
        ["file:///etc/passwd", "/etc/hostname", "http://127.0.0.1:9/a.png", "photo.png", "../png/photo.png"]))
    entity = '<!DOCTYPE svg [<!ENTITY secret SYSTEM "file:///etc/passwd">]>\n'
    fixtures.write("references.svg", ('<?xml version="1.0"?>\n' + entity + head
                                      + 'xmlns:xi="http://www.w3.org/2001/XInclude" width="50" height="10">\n'
                                      + references + '<text y="9">&secret;</text>\n'
                                      + '<xi:include href="file:///etc/passwd" parse="text"/>\n</svg>\n').encode())
    fixtures.write("huge.svg", (head + 'width="100000" height="50000"><rect width="100000" height="25000"/></svg>\n').encode())


if __name__ == "__main__":
    image = fixtures.scene(96, 64)
    make_heic(image)
    make_jxl(image)
    make_svg()
