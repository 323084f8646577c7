# Needs Go 1.26 and a C compiler (SQLite). Two commands matter: make reproduce, make test.

GO      ?= go
BIN     := bin/ssdl
RESULTS ?= results
ARGS    ?=

.PHONY: build reproduce test stress race lint bench peers ort docs clean clean-runs

# The program names its commit where this is a clone that git can read: go build looks at nothing else.
VCS := $(shell test -d .git && git status --porcelain >/dev/null 2>&1 && echo true || echo false)

build:
	@mkdir -p bin
	$(GO) build -buildvcs=$(VCS) -o $(BIN) .
	@$(VCS) || echo "$(BIN) names no commit: this folder is no clone of git. Runs will not say which sources they are of"

# Tables 1 and 2 next to the paper's numbers. Real features are used where they are
# found ($$SSDL_DATA or ./data), else the built-in synthetic sets.
# More arguments: make reproduce ARGS='-d sports8 -s 1000..1002'
reproduce: build
	$(BIN) reproduce --results $(RESULTS) $(ARGS)

# Says at the end which tests were skipped, and why.
test:
	$(GO) run ./scripts/tests ./...

# A hundred kill -9 of two processes that share a store, twice, and of one that removes runs; 16 processes that record
# as fast as they can. For a release: make stress SSDL_KILLS=1000 SSDL_FAST_RUNS=5600
SSDL_KILLS     ?= 100
SSDL_FAST_RUNS ?= 300
stress:
	SSDL_KILLS=$(SSDL_KILLS) SSDL_FAST_RUNS=$(SSDL_FAST_RUNS) $(GO) test ./harness/store -run 'TestKilled|TestFastWriters' -v -count=1 -timeout 30m
	SSDL_KILLS=$(SSDL_KILLS) $(GO) test ./harness/cli -run 'TestKills$$' -v -count=1 -timeout 30m

race:
	$(GO) test -race ./...

# gofumpt and staticcheck are run where they are installed; go vet always.
lint:
	$(GO) vet ./...
	@if command -v gofumpt >/dev/null; then out=$$(gofumpt -l .); if [ -n "$$out" ]; then echo "not gofumpt-ed:"; echo "$$out"; exit 1; fi; else echo "gofumpt is not installed: go install mvdan.cc/gofumpt@latest"; fi
	@if command -v staticcheck >/dev/null; then staticcheck ./...; else echo "staticcheck is not installed: go install honnef.co/go/tools/cmd/staticcheck@latest"; fi

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# The same parts beside scikit-learn's, on real features; needs $$SSDL_DATA (or ./data) and python3-sklearn.
PYTHON ?= python3
peers:
	$(PYTHON) scripts/peers/peers.py
	$(GO) run ./scripts/peers/ours -scaling -data "$${SSDL_DATA:-data}"

# The generated blocks of README.md and REPRODUCE.md, from results/published/runs.zip. make test compares them with it.
docs:
	$(GO) test . -run TestBlocks -update -count=1

# ONNX Runtime's library beside the program, for ssdl features; needs npm and a network.
ort:
	scripts/ort.sh bin

# What is made again in minutes: the program, tables and figures. Runs and ONNX Runtime's library stay.
clean:
	rm -f $(BIN)
	rm -rf $(RESULTS)/tables $(RESULTS)/figures

# All recorded runs, which may be hours of computing; ssdl archive keeps a copy.
# Refused while a process runs a job there.
clean-runs: build
	$(BIN) gc --all --results $(RESULTS)
