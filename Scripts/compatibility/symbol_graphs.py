"""The public symbols of built modules, as the compiler tells them. For the scripts that compare interfaces."""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))

def built():
    """Where `swift build` puts what it builds."""
    return subprocess.run(
        ["swift", "build", "--show-bin-path"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


# What one module declares, in itself or in extensions of another module's types; as in the JSON of a symbol graph.
Graph = collections.namedtuple("Graph", "module symbols relations")


def compiler_arguments(build):
    """What the compiler needs to read the modules in `build`, the folder of `swift build`."""
    triple = os.path.basename(os.path.dirname(os.path.realpath(build)))
    includes = [build, os.path.join(build, "Modules"), os.path.join(ROOT, "Sources", "CKFCairo")]
    includes += sorted(glob.glob(os.path.join(ROOT, "Sources", "CSystem", "*")))
    arguments = ["-target", triple] + [word for path in includes for word in ("-I", path)]
    # C modules: ours, and those of packages that the server's modules import.
    maps = glob.glob(os.path.join(build, "*.build", "module.modulemap"))
    maps += glob.glob(os.path.join(ROOT, ".build", "checkouts", "*", "Sources", "*", "include", "module.modulemap"))
    for path in sorted(maps):
        arguments += ["-Xcc", "-fmodule-map-file=" + path]
    with open(os.path.join(ROOT, "Package.swift"), encoding="utf-8") as file:
        libraries = re.findall(r'pkgConfig: "([\w.-]+)"', file.read()) + ["gtk4"]
    for library in libraries:
        run = subprocess.run(["pkg-config", "--cflags-only-I", library], capture_output=True, text=True)
        arguments += [word for flag in run.stdout.split() for word in ("-Xcc", flag)]
    return arguments


def extract(build, modules):
    """The symbol graphs of the modules that `swift build` left in `build`."""
    arguments = compiler_arguments(build)
    graphs = []
    for module in modules:
        with tempfile.TemporaryDirectory() as output:
            command = ["swift", "symbolgraph-extract", "-module-name", module]
            command += ["-minimum-access-level", "public", "-output-dir", output] + arguments
            run = subprocess.run(command, capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit(f"{module} has no symbol graph; has it been built?\n{run.stdout}{run.stderr}")
            for path in sorted(glob.glob(os.path.join(output, "*.symbols.json"))):
                with open(path, encoding="utf-8") as file:
                    graph = json.load(file)
                graphs.append(Graph(module, graph["symbols"], graph["relationships"]))
    return graphs
