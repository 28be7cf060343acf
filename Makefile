# Everything a newcomer or a build machine runs. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -e -u -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# What is ours and must be formatted.
OURS := Sources Tests Package.swift $(wildcard Benchmarks)

# `make bench FILTER=jpeg` runs the rows whose name has that word.
FILTER ?=
# `make tsan ONLY=KFSupportTests` sanitizes one target or suite.
ONLY ?=
TSAN := --sanitize=thread -Xswiftc -DKF_TSAN --scratch-path .build-tsan

.PHONY: help demo test bench tsan docs format lint layers build dependencies clean

help: ## Lists these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: dependencies ## Builds kf, loads pictures through the whole pipeline, writes demo-output/
	@# Release: pixel loops of a debug build are some fifty times slower, and the demo prints times.
	@swift build -c release --product kf
	@"$$(swift build -c release --show-bin-path)/kf" demo --output demo-output

test: dependencies lint layers build ## Format lint, layer check, build without warnings, all tests
	@swift test --skip-build --disable-xctest

lint: ## Checks the formatting and the documentation rules
	@echo "lint: swift format"
	@swift format lint --strict --recursive --parallel $(OURS)

layers: ## Checks that references point down only, and that unchecked code says why it is safe
	@Scripts/check-layers

build: dependencies ## Builds everything, tests too, for debugging; a warning of ours fails it
	@Scripts/build-without-warnings --build-tests --explicit-target-dependency-import-check error

bench: dependencies ## Measures against the baselines; FILTER=word runs some rows
	@Scripts/install-dependencies bench
	@swift run -c release --package-path Benchmarks kf-bench $(FILTER)

# One target after the other: under the sanitizer the pixel tests would keep both cores from everybody's timeouts.
tsan: dependencies ## All tests under the thread sanitizer; ONLY=name runs some
	@swift build --build-tests $(TSAN)
	@export TSAN_OPTIONS="allocator_may_return_null=1 halt_on_error=0 exitcode=66 suppressions=$(CURDIR)/Scripts/tsan-suppressions.txt"; \
	for target in $(or $(ONLY),$(notdir $(wildcard Tests/*Tests))); do \
	    echo "tsan: $$target"; \
	    swift test --skip-build --disable-xctest $(TSAN) --filter "$$target"; \
	done

docs: dependencies ## Writes the reference documentation to docs-output/
	@swift package --allow-writing-to-directory docs-output \
	    generate-documentation --target Kingfisher --output-path docs-output

format: ## Formats what is ours
	@swift format --in-place --recursive --parallel $(OURS)

dependencies:
	@Scripts/install-dependencies

clean: ## Removes everything that was built or written by these targets
	@rm -rf .build .build-tsan Benchmarks/.build demo-output docs-output
