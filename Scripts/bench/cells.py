"""From format to format: processor time, bytes and scores of an answer, beside libvips, Pillow and another kf-server.

Each tile is fitted into 512×512, without a cache; all programs have their turns in every round, with the same qualities
and efforts. libvips and Pillow work in this process, without a server around them.
"""
import io, math, os, resource, statistics, subprocess, sys
import tiles

CELLS = [("jpg", "jpg"), ("png", "png"), ("webp", "webp"), ("avif", "avif"), ("jpg", "webp"), ("jpg", "avif")]
# The most that is wanted of the processor time of the program before linear light.
WANTED = {("jpg", "jpg"): 1.00, ("png", "png"): 0.70, ("webp", "webp"): 0.80, ("avif", "avif"): 0.70,
          ("jpg", "webp"): 0.58, ("jpg", "avif"): 0.47}
QUALITY = {"jpg": 80, "webp": 75, "avif": 65}
PACKAGES = ["pillow>=11.3", "pyvips", "pyvips-binary", "numpy", "ssimulacra2"]
ROUNDS = 3


def packages(folder):
    """Makes the packages of PyPI importable, fetching them once; false if they cannot be had."""
    target = f"{folder}/bench-python"
    if not os.path.isdir(f"{target}/ssimulacra2"):
        # Without pkg-config pyvips is not built for the system's libvips, and takes the one of pyvips-binary.
        fetched = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--timeout", "10", "--no-cache-dir",
                                  "--target", target, *PACKAGES], env=dict(os.environ, PKG_CONFIG="false"))
        if fetched.returncode:
            return False
    sys.path.insert(0, target)
    return True


def by_pillow(data, ending):
    from PIL import Image
    image = Image.open(io.BytesIO(data))
    image.thumbnail((512, 512), Image.LANCZOS)
    options = {"jpg": dict(progressive=True, optimize=True), "png": {}, "webp": dict(method=2),
               "avif": dict(speed=9, max_threads=1)}[ending]
    if ending in QUALITY:
        options["quality"] = QUALITY[ending]
    result = io.BytesIO()
    image.save(result, {"jpg": "JPEG"}.get(ending, ending.upper()), **options)
    return result.getvalue()


def by_vips(data, ending):
    import pyvips
    image = pyvips.Image.thumbnail_buffer(data, 512, height=512)
    options = {"jpg": "Q=80,interlace,optimize_coding", "png": "", "webp": "Q=75,effort=2",
               "avif": "Q=65,effort=0"}[ending]
    return image.write_to_buffer(f".{ending}[{options}]")


class Program:
    """Makes answers; `cpu` is the seconds of processor time it has taken so far."""

    def __init__(self, name, make, cpu, stop=lambda: None):
        self.name, self.make, self.cpu, self.stop = name, make, cpu, stop


def own_time():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def programs(folder, start):
    """`start` starts a kf-server of a folder of programs, or our own, on a port of its own."""
    def read(name, source):
        with open(f"{folder}/images/{name}.{source}", "rb") as file:
            return file.read()

    def of(server):
        def make(name, source, ending):
            quality = f"/q:{QUALITY[ending]}" if ending in QUALITY else ""
            return server.get(f"/_/rs:fit:512:512{quality}/plain/local:///{name}.{source}@{ending}")
        return make

    ours = start(None)
    result = [Program("ours", of(ours), ours.cpu, ours.stop)]
    if os.environ.get("BENCH_SERVER_BIN"):
        other = start(os.environ["BENCH_SERVER_BIN"])
        result.append(Program("before", of(other), other.cpu, other.stop))
    result.append(Program("libvips", lambda name, source, ending: by_vips(read(name, source), ending), own_time))
    result.append(Program("Pillow", lambda name, source, ending: by_pillow(read(name, source), ending), own_time))
    return result


def measure(folder, start, row):
    names = tiles.cut(f"{folder}/images")
    all_programs = programs(folder, start)
    for cell in CELLS:
        times = {program.name: [] for program in all_programs}
        for turn in range(ROUNDS + 1):
            for program in all_programs:
                before = program.cpu()
                for name in names:
                    program.make(name, *cell)
                if turn:  # The first warms them.
                    times[program.name].append((program.cpu() - before) / len(names) * 1000)
        medians = {name: statistics.median(values) for name, values in times.items()}
        show(cell, medians, row)
    scores(folder, names, all_programs, row)
    for program in all_programs:
        program.stop()


def show(cell, medians, row):
    ours, before = medians["ours"], medians.get("before")
    values = ", ".join(f"{name} {value:.1f}" for name, value in medians.items())
    row(f"{cell[0].upper()} → {cell[1].upper()}, milliseconds: {values}", f"{ours / before:.2f} × before" if before else "",
        f"≤ {WANTED[cell]} ×", not before or ours / before <= WANTED[cell])


def scores(folder, names, all_programs, row):
    """Scores of what is made of the PNG of each tile, against Lanczos in linear light and in the numbers of sRGB."""
    from concurrent.futures import ProcessPoolExecutor
    for name in names:
        for light in ("linear", "encoded"):
            tiles.reference(f"{folder}/images/{name}.png", f"{folder}/{name}-{light}.png", light == "linear")
    for ending in ("png", "jpg", "webp", "avif"):
        for program in all_programs:
            work, sizes = [], []
            for name in names:
                data = program.make(name, "png", ending)
                sizes.append(len(data))
                work.append((folder, name, program.name, data))
            with ProcessPoolExecutor() as pool:
                linear, encoded = zip(*pool.map(score, work))
            size = math.exp(statistics.mean(map(math.log, sizes))) / 1000
            quality = f" {QUALITY[ending]}" if ending in QUALITY else ""
            row(f"PNG → {ending.upper()}{quality}, {program.name}: score against linear, encoded light (lowest), KB",
                f"{statistics.mean(linear):.1f} ({min(linear):.0f}), {statistics.mean(encoded):.1f} ({min(encoded):.0f}), {size:.1f}",
                "", True)


def score(work):
    from PIL import Image
    from ssimulacra2 import compute_ssimulacra2
    folder, name, program, data = work
    path = f"{folder}/{name}-{program}.png"
    Image.open(io.BytesIO(data)).convert("RGB").save(path, compress_level=1)
    return [compute_ssimulacra2(f"{folder}/{name}-{light}.png", path) for light in ("linear", "encoded")]
