# Everything that contributors and build machines run. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -e -u -o pipefail -c
.DEFAULT_GOAL := help
# Two builds of one folder wait for each other.
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# Warnings of ours fail our own builds; Package.swift reads it.
export KINGFISHER_STRICT := 1

# Our code, which must be formatted.
OURS := Sources Tests Examples Snippets Package.swift $(wildcard Benchmarks) Fuzz Server

# `make bench FILTER=jpeg` runs the rows whose name has that word.
FILTER ?=
# `make tsan ONLY=KFSupportTests` sanitizes one target or suite.
ONLY ?=
# `make test TRAITS=HEIC,JXL,SVG` builds in the formats that are left out by default.
TRAITS ?=
comma := ,
WITH_TRAITS := $(if $(TRAITS),--traits $(TRAITS))
# `make fuzz SECONDS=60` runs every target on broken files for that time, two at a time.
SECONDS ?= 30
TSAN := --sanitize=thread -Xswiftc -DKF_TSAN --scratch-path .build-tsan
# The other packages are built in the same folder, so that what they have in common is compiled once.
# What SwiftPM remembers of the root package in this folder is not that of Server.
IN_SERVER := --package-path Server --scratch-path .build --disable-build-manifest-caching
# A server gets what people upload: photos of telephones, and drawings.
SERVER_TRAITS := HEIC,SVG
SERVER_BUILD := $(IN_SERVER) --traits $(SERVER_TRAITS)
IN_BENCHMARKS := --package-path Benchmarks --scratch-path .build

# What Package.swift asks for when it is set: swift-argument-parser, for kf. Where it may be missing, Scripts/with-tool decides.
kf man kf-reference bench-uploads: export KINGFISHER_TOOL := 1
# Fails with a line that says what to do, where the Swift packages of a folder cannot be had.
FETCH := Scripts/fetch-packages
# Programs that run under a limit of memory, with which the sanitizer does not start.
UNSANITIZED := kf-decoder kf-planted-decoder kf-sandbox-checks

.PHONY: help demo gallery desktop kf man test examples bench fuzz soak tsan docs format lint layers packages build systems
.PHONY: alone slow check root-checks server-checks
.PHONY: bench-check bench-uploads bench-server bench-fleet serve server-test server-reference formats-page kf-reference portability targets deb deb-check dependencies desktop-dependencies clean toolchain

help: ## Lists these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# For debugging, as `make test` builds it: what loops over pixels is optimized there, too.
demo: dependencies ## Loads images through the whole pipeline, writes demo-output/contact-sheet.png
	@swift build --product kf-demo
	@"$$(swift build --show-bin-path)/kf-demo" load --output demo-output

gallery: dependencies ## Shows every processor in demo-output/gallery.jpg, boxes and light beside it; PHOTO=file takes a photo
	@swift build --product kf-demo
	@"$$(swift build --show-bin-path)/kf-demo" gallery --output demo-output $(if $(PHOTO),"$(PHOTO)")

desktop: desktop-dependencies ## A window full of images, through KingfisherGTK; ARGS='--urls file' shows those of a list
	@swift build -c release --product kf-desktop
	@"$$(swift build -c release --show-bin-path)/kf-desktop" $(ARGS)

# With Swift's libraries in it, so that a copy of it runs where no toolchain is.
PORTABLE := -c release --static-swift-stdlib -Xlinker -s --scratch-path .build/packages
kf: dependencies ## Builds the tool in release into kf-output/, to be copied; TRAITS as for test
	@$(FETCH) . --scratch-path .build/packages $(WITH_TRAITS)
	@swift build $(PORTABLE) --product kf $(WITH_TRAITS)
	@install -D "$$(swift build $(PORTABLE) --show-bin-path)/kf" kf-output/kf
	@ls -lh kf-output/kf

deb: desktop-dependencies ## Builds Debian packages of kf, kf-server, kf-desktop for this system into deb-output/
	@Scripts/install-dependencies packages
	@Scripts/packages/build $(WITH_TRAITS)

deb-check: dependencies ## Installs and runs them on fresh systems; as root, SYSTEMS=debian-12 for one
	@Scripts/install-dependencies systems
	@Scripts/packages/check $(SYSTEMS)

# One page for each command, from what the parser knows.
man: dependencies ## Writes the manual pages of the tool to man-output/
	@$(FETCH) .
	@swift build --product kf
	@mkdir -p man-output
	@swift run --package-path .build/checkouts/swift-argument-parser --scratch-path .build/manual generate-manual \
	    "$$(swift build --show-bin-path)/kf" --multi-page --output-directory man-output
	@ls man-output

# What needs a Swift package that cannot be fetched is left out, and said at the end.
test: ## Format lint, layers, a build without warnings, all tests of the library and of kf
	@Scripts/report around $(MAKE) root-checks

check: ## What CI runs: make test, and then the server, examples, other systems' headers, packages
	@Scripts/report around $(MAKE) root-checks packages portability examples server-checks

# Traits add to the interface.
root-checks: desktop-dependencies lint layers build alone
	@Scripts/compatibility/check
	@$(if $(TRAITS),,Scripts/public-interface)
	@Scripts/tier-engines
	@Scripts/with-tool Scripts/run-tests $(WITH_TRAITS)

server-checks: dependencies
	@Scripts/test-server

alone: dependencies ## Checks that the library needs no package: a fresh clone, without a network and settings
	@Scripts/check-alone

# Each version of the formatter wants something else.
FORMATTER := 6.3

slow: build ## The slowest twenty suites, each run by itself: wall and processor time; COUNT=50 prints more
	@Scripts/slow-tests $(COUNT)

lint: toolchain ## Checks the formatting and the documentation rules
	@Scripts/check-comments $(OURS)
	@if swift --version 2>/dev/null | grep -q 'Swift version $(subst .,\.,$(FORMATTER))'; then \
	    echo "lint: swift format"; \
	    swift format lint --strict --recursive --parallel $(OURS); \
	else \
	    Scripts/report left-out "the check of the formatting" "the formatter of Swift $(FORMATTER) decides it, this is another"; \
	fi

layers: ## Checks that references point down only, and that unchecked code says why it is safe
	@Scripts/check-layers

packages: ## Checks links, the manifests of Fuzz and Benchmarks, and that SwiftPM can name every package to install
	@Scripts/check-packages

# Fetches the headers of all systems the first time, or leaves out what cannot be fetched in a minute.
portability: desktop-dependencies ## C code against the headers of other systems, its loops on another processor
	@Scripts/systems/headers --within 60
	@Scripts/systems/kernels

# `make systems SYSTEMS=debian-13` is about one or some of Scripts/systems/list.
SYSTEMS ?=

systems: dependencies ## The same, and all tests on each of the systems; as root, SYSTEMS=debian-13 for one
	@Scripts/install-dependencies systems
	@Scripts/systems/headers $(SYSTEMS)
	@Scripts/systems/kernels $(SYSTEMS)
	@Scripts/systems/tests $(SYSTEMS)

targets: ## Starts each of these targets in its shortest form; takes half an hour
	@Scripts/check-targets

build: desktop-dependencies ## Builds everything, tests too, for debugging; a warning of ours fails it
	@Scripts/with-tool Scripts/build-without-warnings --build-tests --explicit-target-dependency-import-check error $(WITH_TRAITS)

examples: dependencies ## Builds the packages in Examples, if what they depend on can be fetched
	@Scripts/build-examples

# A package of its own. `make check` tests it, too, if it can be fetched.
server-test: dependencies ## Builds and tests the package in Server
	@$(FETCH) Server
	@Scripts/test-server

# On loopback, so that it needs no key; PORT=9000 is another port. In release, since a debug build is much slower.
PORT ?= 8080
SERVE := KF_BIND=127.0.0.1:$(PORT) KF_LOCAL_FILESYSTEM_ROOT="$(CURDIR)/docs" KF_UPLOADS=1

serve: dependencies ## Builds and runs the image server on loopback, with the images in docs, prints a URL; PORT=9000 for another
	@Scripts/install-dependencies heic svg
	@$(FETCH) Server
	@swift build -c release $(SERVER_BUILD) --product kf-server
	@echo "serve: http://127.0.0.1:$(PORT)/_/rs:fill:300:200/plain/local:///gallery.jpg@webp"
	@echo "serve: http://127.0.0.1:$(PORT)/ is a page to try options; ctrl-C ends the server"
	@$(SERVE) exec "$$(swift build -c release $(SERVER_BUILD) --show-bin-path)/kf-server" $(or $(COMMAND),serve) --develop

# The test that compares the two writes the page where it is asked to.
formats-page: dependencies ## Writes into the page Formats what Tests/Catalogue has
	@KF_WRITE_FORMATS_PAGE=1 swift test --filter KFImagingTests.FormatsPageTests

kf-reference: dependencies ## Writes into docs/kf.md what the tool's parsers know of options and steps
	@$(FETCH) .
	@KF_WRITE_REFERENCE=1 swift test --filter kfTests.ReferencePageTests

server-reference: toolchain ## Writes docs/server-options.md from the tables of options and settings
	@$(FETCH) Server
	@page="$$(swift run $(IN_SERVER) --quiet kf-server-reference)"; echo "$$page" >docs/server-options.md

# As packages have it: with Swift's libraries inside, since loading these takes most of a decoder's start.
DECODER := $(PORTABLE) --product kf-decoder

bench: dependencies ## Measures against the baselines, writes bench-output/report.md; FILTER=word runs some rows
	@$(FETCH) Benchmarks
	@Scripts/install-dependencies bench
	@swift build $(DECODER)
	@KF_DECODER="$$(swift build $(DECODER) --show-bin-path)/kf-decoder" \
	    swift run -c release $(IN_BENCHMARKS) kf-bench $(FILTER)

bench-check: dependencies ## Runs the rows of bench that count: instructions, allocations, requests; one that falls short fails it
	@$(FETCH) Benchmarks
	@Scripts/install-dependencies bench
	@swift run -c release $(IN_BENCHMARKS) kf-bench --check

bench-uploads: dependencies ## Measures what uploads cost, beside pyvips and Pillow
	@$(FETCH) .
	@swift build -c release --product kf
	@python3 -m pip install --quiet --timeout 10 --target .build/python-bench pyvips pyvips-binary pillow
	@PYTHONPATH="$(CURDIR)/.build/python-bench" Scripts/bench-uploads "$$(swift build -c release --show-bin-path)/kf"

bench-server: dependencies ## Measures the image server, beside libvips and Pillow; ROWS='hot soak' runs some rows
	@$(FETCH) Server
	@Scripts/install-dependencies bench-server heic svg
	@swift build -c release $(SERVER_BUILD) --product kf-server
	@Scripts/bench-server $(ROWS)

bench-fleet: dependencies ## Measures three image servers that share a tier, and kills them; ROWS='redis purge' runs some rows
	@$(FETCH) Server
	@Scripts/install-dependencies fleet heic svg
	@Scripts/tier-engines
	@swift build -c release $(SERVER_BUILD) --product kf-server
	@Scripts/bench-fleet $(ROWS)

fuzz: dependencies ## Broken files against every decoder; SECONDS=60 for each, ONLY=name for one, TRAITS as for test
	@SECONDS_EACH=$(SECONDS) Fuzz/run $(WITH_TRAITS) $(ONLY)

# `make soak ROUNDS=20` kills fewer processes.
ROUNDS ?= 500

soak: desktop-dependencies ## Kills processes that write to a cache, ROUNDS times, and twice as many decoders; closes windows
	@swift build --product kf-soak
	@directory="$$(mktemp -d)"; trap 'rm -rf "$$directory"' EXIT; \
	    "$$(swift build --show-bin-path)/kf-soak" $(ROUNDS) "$$directory"
	@swift build --build-tests
	@KF_KILLS=$$((2 * $(ROUNDS))) Scripts/run-tests --filter KFImagingTests.KilledDecoderTests
	@KF_WINDOWS=200 Scripts/run-tests --filter KingfisherGTKTests.WidgetTests

# Widgets are left out: GTK is not built for the sanitizer.
# One target after the other: under the sanitizer the pixel tests would keep both cores busy until others time out.
tsan: desktop-dependencies ## All tests but widgets under the thread sanitizer; ONLY=name runs some
	@Scripts/with-tool swift build --build-tests $(TSAN)
	@for program in $(UNSANITIZED); do \
	    swift build --product $$program; \
	    cp "$$(swift build --show-bin-path)/$$program" "$$(swift build $(TSAN) --show-bin-path)"; \
	done
	@# Eight threads of that many calls each.
	@export KF_STRESS=$(or $(STRESS),100000); \
	export TSAN_OPTIONS="allocator_may_return_null=1 halt_on_error=0 exitcode=66 suppressions=$(CURDIR)/Scripts/tsan-suppressions.txt"; \
	for target in $(or $(ONLY),$(filter-out KingfisherGTKTests,$(notdir $(wildcard Tests/*Tests)))); do \
	    echo "tsan: $$target"; \
	    Scripts/with-tool Scripts/run-tests $(TSAN) --filter "$$target"; \
	done

# The plugin of the documentation compiler builds with all traits.
docs: export KINGFISHER_DOCS := 1
docs: dependencies ## Writes the documentation site to docs-output/, and says how to open it
	@$(FETCH) . --traits Metrics
	@Scripts/install-dependencies desktop heic jxl
	@Scripts/docs

format: toolchain ## Formats our code
	@swift format --in-place --recursive --parallel $(OURS)

# Before anything is installed.
toolchain:
	@Scripts/check-toolchain

dependencies: toolchain
	@Scripts/install-dependencies build $(subst $(comma), ,$(TRAITS))
	@$(if $(findstring Metrics,$(TRAITS)),$(FETCH) . $(WITH_TRAITS))

desktop-dependencies: dependencies
	@Scripts/install-dependencies desktop tiers

clean: ## Removes everything that was built or written by these targets
	@rm -rf .build .build-tsan Benchmarks/.build Server/.build Examples/*/.build Fuzz/.build Fuzz/findings
	@rm -rf demo-output docs-output kf-output man-output deb-output bench-output
