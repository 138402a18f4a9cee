# SPDX-License-Identifier: MIT
#
# make          the command, build/sinew
# make demo     the demonstration, and its page
# make gallery  every example as a page, and an index with pictures, build/gallery/index.html
# make playground an editor with the robot beside it, computed in the browser: a folder of files, build/playground
# make viewer   rebuilds the page of `sinew view`, where it could not be built before
# make test     every test, also under sanitizers; ends with CTest's summary
# make fuzz     random models under sanitizers, SEED=.. COUNT=..; a few of them are tests
# make libfuzz  libFuzzer on models, result files and live messages, SECONDS=.. for each
# make hunt     comparisons on random robots, HOURS=.. or SECONDS=.., SEED=..; a minute of it is a test
# make bench    tables of speed
# make install  PREFIX=/usr/local, DESTDIR honoured
# make python   the Python package: build/python to put in PYTHONPATH, and a wheel in build/wheel
# make wheel-test installs the wheel and the sources in fresh environments and uses them
# make deb      a Debian package of it all, build/deb
# make deb-test installs that package in a clean Debian and uses it; as root, with mmdebstrap
# make wasm     the engine for browsers and Node, build/wasm/site; needs emscripten
# make wasm-test every example in it, by Node
# make release  all that a release consists of: sources, Debian package, wheel, site, checksums, build/dist
# make docs     pages written from the command's own help
# make pictures those of the README, docs/pictures, and those of the tutorials
# make site     the documentation, build/site/html/index.html; QUICK=1 without playground, gallery and values
# make format, make tidy, make clean

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
# Debian's own interpreter, to which its packages belong; another python3 may stand first in the path
DEBIAN_PYTHON ?= /usr/bin/python3
showpiece = examples/rods/boyer2_follower.yaml

# configure and build a preset; CMake repeats only necessary work
build_preset = cmake --preset $(1) $(2) --log-level=WARNING >/dev/null && cmake --build --preset $(1) --parallel $(JOBS)

all: setup
	$(call build_preset,release)
	@ln -sfn release/sinew build/sinew

demo: all
	build/sinew check $(showpiece)
	build/sinew run $(showpiece) -o build/demo.h5
	build/sinew show build/demo.h5
	build/sinew verify examples/*/*.yaml
	@if build/sinew view build/demo.h5 -o build/demo.html; then echo "open build/demo.html in a browser"; \
	else echo "the demonstration is done, but has no page"; fi

# pictures are taken by a browser, for which the packages of the viewer's tests are needed
fetch_browser = @NPM="$$(command -v npm)" sh tools/npm_fetch.sh viewer all || echo "there will be no pictures by a browser"

# examples that take minutes, examples/*/long, are left out
gallery: setup-test
	$(call build_preset,bench) --target command
	$(fetch_browser)
	tools/gallery.py build/bench/sinew

pictures: setup-test
	$(call build_preset,bench) --target command
	$(fetch_browser)
	tools/gallery.py build/bench/sinew --pictures docs/pictures
	tools/pages.py build/bench/sinew docs/start.md docs/tutorials/*.md docs/howto/*.md --pictures

# without Sphinx and its parts it ends with the names of the packages; nothing else needs it
site: setup-site
	$(call build_preset,release) --target command
	@cmake --build --preset release --target python_package >/dev/null 2>&1 || echo "site: the Python reference is made without the compiled package"
	@test -n "$(QUICK)" || $(MAKE) playground
	$(fetch_browser)
	@test -n "$(QUICK)" || tools/gallery.py build/release/sinew
	@$(DEBIAN_PYTHON) site/build.py build/release/sinew --python build/release/python $(if $(QUICK),--quick)

playground: setup
	$(call build_preset,release) --target command
	@if command -v emcc >/dev/null; then $(MAKE) wasm; fi
	@NODE=$$(command -v node) NPM=$$(command -v npm) playground/build.sh build/release/sinew build/wasm/site build/playground

viewer: setup
	rm -f build/*/viewer_page.c
	$(MAKE) all

# one CTest over all builds: the tests of each have its prefix
test: setup-test
	$(call build_preset,dev)
	$(call build_preset,asan)
	$(call build_preset,tsan) --target unit_threads unit_shared_model unit_batch unit_job_threads
	@if command -v emcc >/dev/null && command -v node >/dev/null; then \
	  $(call build_wasm,wasm-test,-DSNW_WASM_NUMERICS=-O1 -DSNW_WASM_COMPACT=-O1 -DSNW_WASM_REST=-O1 -DSNW_WASM_ASSERT=ON); \
	else echo "test: the engine of browsers is left out, there is no emscripten; tools/setup.sh wasm installs it"; fi
	@mkdir -p build/test
	@printf 'subdirs("%s")\n' ../dev ../asan ../tsan > build/test/CTestTestfile.cmake
	ctest --test-dir build/test --output-on-failure --no-tests=error --parallel $(JOBS)

fuzz: setup-test
	$(call build_preset,asan) --target fuzz_expr fuzz_yaml fuzz_model fuzz_mesh
	@for f in build/asan/fuzz_*; do "$$f" $(or $(SEED),$$(date +%s)) $(or $(COUNT),20000) || exit 1; done

libfuzz: setup-test
	$(call build_preset,libfuzz)
	tests/libfuzz/run.sh build/libfuzz $(or $(SECONDS),60)

# finds go to build/hunt, its index.txt has a line for each
hunt: setup
	$(call build_preset,release) --target command
	SINEW=$(CURDIR)/build/release/sinew PYTHONDONTWRITEBYTECODE=1 tests/random/hunt.py --output build/hunt \
	  --seed $(or $(SEED),$$(date +%s)) $(if $(SECONDS),--seconds $(SECONDS),--hours $(or $(HOURS),0.25))

bench: setup-test
	$(call build_preset,bench)
	@for b in build/bench/bench_*; do test -x "$$b" || continue; "$$b" || exit 1; done
	@test ! -d build/bench/python || PYTHONPATH=build/bench/python /usr/bin/python3 bench/python.py

install: setup
	$(call build_preset,release,-DCMAKE_INSTALL_PREFIX=$(PREFIX))
	cmake --install build/release --prefix $(PREFIX)

python: setup-test
	$(call build_preset,release) --target python_package command
	@ln -sfn release/python build/python
	$(DEBIAN_PYTHON) -m pip wheel --quiet --no-deps --no-build-isolation --no-index -w build/wheel .

wheel-test:
	packaging/try.sh wheel

deb: setup-test
	$(call build_preset,release,-DCMAKE_INSTALL_PREFIX=/usr)
	cd build/release && cpack -G DEB -B ../deb >/dev/null
	@ls build/deb/*.deb

deb-test: deb
	packaging/try.sh deb build/deb/sinew_*.deb

# configure and build the engine of browsers in a folder, with options of web/CMakeLists.txt
build_wasm = cmake -S web -B build/$(1) -G Ninja $(2) --log-level=WARNING >/dev/null && cmake --build build/$(1) --parallel $(JOBS)
# its scripts are bundled by the esbuild of the viewer
viewer_packages = NODE="$$(command -v node || command -v nodejs)" NPM="$$(command -v npm)" \
  sh viewer/build.sh build build/viewer_packages.c

# emscripten, 400 MB, is installed for this target only
wasm: setup
	@tools/setup.sh wasm
	@mkdir -p build && $(viewer_packages)
	$(call build_wasm,wasm)

wasm-test: wasm
	node web/test/examples.mjs build/wasm/site --all
	node web/test/bad_input.mjs build/wasm/site
	node web/test/browser.test.mjs build/wasm/site

release:
	packaging/release.sh

docs: all
	tools/docs.py build/sinew

format:
	tools/format.py clang-format

tidy: setup-test
	$(call build_preset,dev)
	tools/clang.py build/dev --tidy

setup:
	@tools/setup.sh build

setup-test:
	@tools/setup.sh test

setup-site:
	@tools/setup.sh site

clean:
	rm -rf build

.PHONY: all demo gallery pictures playground viewer test fuzz libfuzz hunt bench install python wheel-test deb deb-test wasm wasm-test release docs site format tidy setup setup-test setup-site clean
