"""Photographs of Debian's wallpapers, cut into tiles of 2040×1356 as the benchmark of imgproxy has them. For bench-server."""
import io, os, subprocess

SIZE, FITTED = (2040, 1356), (512, 340)
MATE, PLASMA = "/usr/share/backgrounds/mate/nature", "/usr/share/wallpapers"
PHOTOS = [f"{MATE}/{name}.jpg" for name in ("Garden", "LadyBird", "TwoWings", "Wood", "YellowFlower")] + [
    f"{PLASMA}/{name}/contents/images/2560x1600.jpg"
    for name in ("BytheWater", "ColdRipple", "ColorfulCups", "EveningGlow", "FallenLeaf", "Kite", "OneStandsOut", "Path")]
# Tiles of fewer bytes as PNG are flat: sky, or what is out of focus.
LEAST_BYTES = 1_300_000


def cut(folder):
    """Writes NAME.jpg, .png, .webp and .avif for each tile; returns the names."""
    from PIL import Image
    names = []
    for photo in PHOTOS:
        with Image.open(photo) as file:
            image = file.convert("RGB")
        for corner in ((0, 0), (image.width - SIZE[0], image.height - SIZE[1])):
            tile = image.crop((*corner, corner[0] + SIZE[0], corner[1] + SIZE[1]))
            png = io.BytesIO()
            tile.save(png, "PNG", compress_level=6)
            if png.tell() < LEAST_BYTES:
                continue
            names.append(f"{len(names):03d}")
            with open(f"{folder}/{names[-1]}.png", "wb") as file:
                file.write(png.getvalue())
            tile.save(f"{folder}/{names[-1]}.jpg", quality=90)
            tile.save(f"{folder}/{names[-1]}.webp", quality=90)
            tile.save(f"{folder}/{names[-1]}.avif", quality=80, speed=9)
    return names


def reference(tile, result, is_linear):
    """Makes a tile small by ImageMagick's Lanczos, in linear light or in the numbers of sRGB."""
    there, back = (["-colorspace", "RGB"], ["-colorspace", "sRGB"]) if is_linear else ([], [])
    size = ["-filter", "Lanczos", "-resize", "{}x{}!".format(*FITTED)]
    subprocess.run(["convert", tile, *there, *size, *back, "-depth", "8", "-strip", f"PNG24:{result}"], check=True)
