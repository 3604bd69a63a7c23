# prismux: what people type. `make` alone lists the targets.

CARGO ?= cargo
# Where cargo builds.
BUILT = $(abspath $(or $(CARGO_TARGET_DIR),target))
PRISMUX = $(BUILT)/release/prismux
# How long `make fuzz` spends on each target, and how hard `make soak` tries.
FUZZ_SECONDS ?= 60
SOAK_CASES ?= 20000
RADIO_HISTORIES ?= 1000
# How long `make soak-week` lets a gateway live, and what its life is drawn from.
WEEK_DAYS ?= 7
WEEK_SEED ?= 1
SOAK_SEED := $(or $(SOAK_SEED),$(shell date +%s))
# How many networks `make door-study` runs, and the 56 settings that it runs in each where each packet floods; with a
# route cache, which the paper has for comparison alone, the settings in the middle.
STUDY_SEEDS ?= 100
FLOODS := --over routing.protocol=dsr-cache-off-flood
CACHES := --over routing.protocol=dsr-ns2
DOOR_MIDDLE := all-t1x2-t2x4,sd-t1x2-t2x4,rd-t1x2-t2x4,td-t1x2,ir-t2x4
DOOR_SPANS := 1 2 4 8
DOOR_SETTINGS := $(foreach c,all sd rd,$(foreach f,$(DOOR_SPANS),$(foreach r,$(DOOR_SPANS),$(c)-t1x$(f)-t2x$(r)))) \
  $(addprefix td-t1x,$(DOOR_SPANS)) $(addprefix ir-t2x,$(DOOR_SPANS))
DOOR_SWEEP = $(PRISMUX) sweep tcp-door-study --variants alone,congested --seeds $(STUDY_SEEDS) \
  --out results/door-study.parquet --keep
DOOR_PLAIN = $(DOOR_SWEEP) --over flows.download.transport=tcp
DOOR_TODAY = $(DOOR_SWEEP) --set flows.download.transport=tcp --over flows.download.profile=modern \
  --set flows.download.tcp.initial_window=10 --set flows.download.tcp.clock_granularity=1ms
DOOR_OURS = $(DOOR_SWEEP) --set flows.download.door.grows_while_frozen=true \
  --set flows.download.door.option_on_every_syn=true --over flows.download.door.setting
COMMA := ,
SPACE := $(subst ,, )
# For which processor `make static` and `make deb` build: amd64 or arm64; without, for this machine's.
ARCHITECTURE ?=
# What `make figure` draws.
NAME ?= T1

.DEFAULT_GOAL := help
# One target after the other, whatever `-j` says: the Python tests run the command that the Rust tests have built, and
# cargo and pytest use all cores by themselves.
.NOTPARALLEL:
.PHONY: help setup build deb static oci demo test test-rust test-python build-for-tests pytest python lock lint bench page-pictures mixes rough agree agree-kernel compare-adhoc compare-lab compare-fetch compare-moves door-study reproduce figure figures docs fuzz soak soak-radio soak-week sanitize clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

setup: ## check for (as root: install) what building and the lab need
	@.ci/setup

build: setup ## build the prismux command, optimised
	$(CARGO) build --release --locked -p prismux

deb: setup ## a Debian package, in results/ (needs dpkg-dev); with ARCHITECTURE=arm64 for other machines
	@$(if $(ARCHITECTURE),.ci/deb "" "$$(.ci/static $(ARCHITECTURE))" $(ARCHITECTURE),.ci/deb)

static: setup ## the command as one file that needs no library, in results/; with ARCHITECTURE=arm64 for other machines
	@.ci/static $(ARCHITECTURE)

oci: build ## an image for containers, in results/, without a container engine (needs Debian or its like)
	@.ci/oci $(PRISMUX)

demo: build ## one download over several links, each way of using them, on this machine's kernel
	@mkdir -p results
	$(PRISMUX) demo --out results/demo.svg

test: test-rust pytest ## all tests

test-rust: setup ## the tests of the crates
	@CARGO="$(CARGO)" .ci/tests

test-python: build-for-tests pytest ## the tests of the Python package

build-for-tests: setup
	$(CARGO) build --locked -p prismux

# With the command that `test-rust` has built: building it alone would compile it anew, with fewer features.
pytest: python
	cd python && PRISMUX=$(BUILT)/debug/prismux ../.venv/bin/pytest

python: setup ## the Python package, built into .venv (VIRTUAL_ENV is not touched)
	@.ci/python

wheel: build python ## the Python package with the prismux command and the figures, as a wheel of this platform, in results/wheels
	@.ci/wheel $(PRISMUX) results/wheels

lock: python ## pin the Python requirements anew
	cd python && ../.venv/bin/pip-compile --quiet --upgrade --generate-hashes --strip-extras --no-header --allow-unsafe \
	  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links -o requirements.lock requirements.in

lint: python ## formatting, and warnings as errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	cd python && ../.venv/bin/ruff format --check . ../docs ../reproduce && ../.venv/bin/ruff check . ../docs ../reproduce && ../.venv/bin/mypy

bench: setup ## speed and memory of the simulator, cost of TCP, proxy, daemons, sweeps and serving, memory per flow and client
	$(CARGO) build --release --locked -p prismux-benches
	$(BUILT)/release/sim-speed
	$(BUILT)/release/sim-memory
	$(BUILT)/release/tcp-cost
	$(BUILT)/release/proxy-cost
	$(BUILT)/release/gateway-cost
	$(BUILT)/release/datapath-cost
	$(BUILT)/release/sweep-cost
	$(BUILT)/release/fetch-cost

page-pictures: setup ## the web page of a home with two uplinks at work, as pictures in docs/pictures (needs Chromium)
	$(CARGO) test --locked -p prismux --test two_uplinks -- --page home python3 $(CURDIR)/python/tests/page_pictures.py \
	  http://127.0.0.1:9587/ $(CURDIR)/docs/pictures page

mixes: build ## 200 random mixes of links: PRISM against the best single link (minutes)
	@mkdir -p results
	$(PRISMUX) mixes --out results/random-mixes.json --svg results/random-mixes.svg

rough: build ## rough links (jitter, reordering, changing rates, outages): PRISM against the best single link (minutes)
	@mkdir -p results
	$(PRISMUX) rough --out results/rough.json --svg results/rough.svg

agree: build ## the papers' testbeds in the lab and in the simulator, and by how much they differ (3 minutes)
	$(PRISMUX) agree

agree-kernel: build ## MPTCP over 20 mixes of links and BBR over 20 links: the kernel's in the lab beside the simulator's (ten minutes)
	$(PRISMUX) agree --mptcp-mixes 20 --runs 1 --jobs 1
	$(PRISMUX) agree --bbr-mixes 20 --runs 1 --jobs 1

compare-adhoc: setup ## DSR, AODV and DSDV with 50 moving hosts: what arrives, what routing costs, detours (ten minutes)
	$(CARGO) run --release --locked -p prismux-simulator --example adhoc_routing -- 900 1 10,20,30 0,30,60,120,300,600,900

compare-lab: build ## PRISM, kernel MPTCP, striping and the best single link in the lab, cubic and bbr (a quarter of an hour)
	$(PRISMUX) rivals

compare-fetch: setup ## one file over two links from two servers: R²CP, aria2 and kernel MPTCP (four minutes)
	$(CARGO) build --release --locked -p prismux-benches --bin fetch-rivals
	$(BUILT)/release/fetch-rivals --runs 3

compare-moves: build ## handoff, migration, aggregation, policy, blackout of R²CP: in the lab beside the simulator (three minutes)
	$(CARGO) build --release --locked -p prismux-benches --bin fetch-moves
	$(BUILT)/release/fetch-moves --runs 3

door-study: build python ## the TCP-DOOR study: 4 experiments, 100 networks, plain TCP, TCP of today, 56 settings; goes on where it was interrupted
	@mkdir -p results
	$(DOOR_PLAIN) $(FLOODS)
	$(DOOR_OURS)=$(DOOR_MIDDLE) $(FLOODS)
	$(DOOR_PLAIN) $(CACHES)
	$(DOOR_OURS)=$(DOOR_MIDDLE) $(CACHES)
	$(DOOR_TODAY) $(FLOODS)
	$(DOOR_TODAY) $(CACHES)
	$(DOOR_OURS)=$(subst $(SPACE),$(COMMA),$(strip $(DOOR_SETTINGS))) $(FLOODS)
	.venv/bin/python reproduce/tcp-door/study.py results/door-study.parquet

reproduce: build ## every published claim of every system: reported, measured, verdict
	$(PRISMUX) reproduce all

figure: build python ## one published figure from a quick run, in seconds: make figure NAME=T1
	@mkdir -p results/figures
	$(PRISMUX) reproduce all --only $(NAME) --quick --json > results/$(NAME).json
	.venv/bin/python -m prismux.figures results/$(NAME).json --only $(NAME) --out results/figures

figures: build python ## all published figures, from quick runs
	@mkdir -p results
	$(PRISMUX) reproduce all --quick --json > results/claims.json
	.venv/bin/python -m prismux.figures results/claims.json --out results/figures

docs: figures ## the documentation site, in results/site; needs no network
	.venv/bin/python docs/build.py --results results/claims.json --out results/site

fuzz: setup ## every parser under a coverage-guided fuzzer (needs nightly Rust and cargo-fuzz)
	@.ci/fuzz $(FUZZ_SECONDS)

soak-radio: ## 1,000 random histories of an air under the checkers, and what was in them
	@printf 'seed of the histories: %s (SOAK_SEED repeats them)\n' '$(SOAK_SEED)'
	PROPTEST_RNG_SEED=$(SOAK_SEED) PROPTEST_CASES=$(RADIO_HISTORIES) \
	  $(CARGO) test --locked -p prismux-wireless --test properties -- --nocapture

soak: setup ## the property tests, with other cases each time, and the short fuzz run, at length
	@printf 'seed of the property tests: %s (SOAK_SEED repeats them)\n' '$(SOAK_SEED)'
	PROPTEST_RNG_SEED=$(SOAK_SEED) PROPTEST_CASES=$(SOAK_CASES) PRISMUX_FUZZ_ROUNDS=$$(( $(SOAK_CASES) * 50 )) \
	  $(CARGO) test --release --workspace --locked

soak-week: setup ## a gateway's week in virtual time: memory and tables that do not grow, nothing stuck (long)
	@mkdir -p results
	$(CARGO) build --release --locked -p prismux-benches --bin soak-week
	$(BUILT)/release/soak-week --days $(WEEK_DAYS) --seed $(WEEK_SEED) --json results/week.json --svg results/week.svg

sanitize: setup ## the crate with `unsafe` code under AddressSanitizer (needs nightly Rust)
	RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=$(BUILT)/sanitize \
	  $(CARGO) +nightly test --locked -p prismux-linux --lib --target $$(rustc -vV | sed -n 's/^host: //p')

clean: ## remove what was built
	$(CARGO) clean
