# Two commands are enough: `make serve` and `make test`. Both build .venv first where it is missing or out of date.

PYTHON ?= python3
BIN := .venv/bin

# A virtual environment does not survive being moved or copied, nor the removal of the Python it was made with.
ifneq ($(shell cat .venv/.made-in 2>/dev/null),$(CURDIR))
.venv/.locked: anew
else ifeq ($(wildcard $(BIN)/python),)
.venv/.locked: anew
endif

.DEFAULT_GOAL := help
.PHONY: help setup serve test test-compat test-long test-crash test-sdks bench-engine bench-data bench-api fmt docs editor lock clean anew chromium

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

setup: .venv/.ready editor ## build .venv, unless it is up to date

serve: .venv/.ready editor ## run the systems on this machine, with made-up data, in keyplan.db
	@exec $(BIN)/keyplan serve --demo --dev --path keyplan.db

test: .venv/.ready editor chromium ## lint, format check, types, tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest -q -n auto --maxprocesses 8 --dist worksteal

# Pages are tested in a real browser. Where there is none and we may install Debian's, we do; else its tests are skipped.
chromium:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q chromium; } >/dev/null 2>&1; } || \
		echo "*** NOT TESTED: there is no chromium and it can not be installed here, so no page is tried in a browser. ***" >&2

# Private interfaces of other libraries are used where they were tested; see compat.py in design, data and web.
test-compat: .venv/.ready ## the data layer and the kit with public interfaces of other libraries only
	KEYPLAN_NO_FAST_PATHS=1 $(BIN)/pytest -q -n auto --maxprocesses 8 --dist worksteal tests/data tests/design tests/web

coverage: .venv/.ready editor chromium ## the tests with branch coverage, subprocesses included; fails below the floor
	@rm -rf .coverage && mkdir .coverage
	$(BIN)/coverage run -m pytest -q -n auto --maxprocesses 8 --dist worksteal
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

test-wheel: .venv/.ready editor ## build the wheel, install it into an empty environment, run the README's first design
	$(BIN)/python -m tools.try_wheel

test-pythons: ## the tests on every installed Python from 3.11 on
	@sh tools/test_pythons.sh

test-newest: ## the tests with the newest release of every dependency
	@sh tools/test_newest.sh

counts: .venv/.ready ## how often fields are declared, and what the systems repeat
	@$(BIN)/python -m tools.counts

walks: .venv/.ready ## the functions and modules that four requests pass through
	@$(BIN)/python -m tools.walks

test-long: .venv/.ready ## random operations against models, for much longer than `make test` does (about 20 minutes)
	KEYPLAN_TEST_LONG=1 $(BIN)/pytest -q -o faulthandler_timeout=3600 tests/engine/durability/test_model.py tests/data/test_machine.py tests/apps/test_five_designs.py

test-crash: .venv/.ready ## a writing server killed 200 times
	KEYPLAN_CRASH_ROUNDS=200 $(BIN)/pytest -q -o faulthandler_timeout=3600 tests/engine/durability/test_crash.py

test-sdks: .venv/.ready ## the JavaScript SDK v3 against the endpoint (needs node and npm)
	@command -v node >/dev/null && command -v npm >/dev/null || { echo \
		"*** NOT TESTED: node (20 or newer) with npm is missing, so the JavaScript SDK was not tried. ***" >&2; exit 1; }
	@$(MAKE) --no-print-directory tests/sdks/node_modules/.package-lock.json
	node --test tests/sdks/

bench-engine: .venv/.ready ## the engine beside what one would use instead
	$(BIN)/python -m bench.engine

bench-api: .venv/.ready ## an API of a system beside a bare FastAPI handler
	$(BIN)/python -m bench.api

bench-data: .venv/.ready ## the data layer beside raw boto3 and other libraries
	$(BIN)/python -m bench.data

fmt: .venv/.ready ## format, and mend what the linter can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Typer writes the reference of a Typer application itself; a test notices when the file is behind the code.
docs: .venv/.ready ## write anew what the documentation takes from the code
	$(BIN)/python -m typer keyplan.cli utils docs --name keyplan --output docs/cli.md
	$(BIN)/python -m tools.write_docs

# vcm's editor of rich text, from packages of npm's. Where it can not be built, its form takes Markdown: nothing waits for it.
EDITOR := src/keyplan/apps/vcm/editor
editor: ## build vcm's editor of rich text, where npm is there
	@if command -v npm >/dev/null; then $(MAKE) -s --no-print-directory $(EDITOR)/../static/editor.js || \
		echo "*** vcm's editor could not be built; its pages take Markdown. ***" >&2; fi

$(EDITOR)/../static/editor.js: $(EDITOR)/package-lock.json $(EDITOR)/main.js
	cd $(EDITOR) && npm ci --silent --no-audit --no-fund --fetch-retries 1 --fetch-timeout 20000 && npm run --silent build
	@touch $@

# One file for every platform and Python we support. Versions in it stay as they are while they still fit pyproject.toml;
# delete the file first to take the newest of everything.
lock: ## write requirements.lock anew from pyproject.toml
	@set -e; tools=$$(mktemp -d); trap 'rm -rf "$$tools"' EXIT; \
	$(PYTHON) -m venv "$$tools"; \
	"$$tools/bin/pip" install --quiet uv; \
	"$$tools/bin/uv" pip compile pyproject.toml --quiet --all-extras --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --custom-compile-command "make lock" --output-file requirements.lock

clean: ## remove everything that was built; data files stay
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage dist tests/sdks/node_modules $(EDITOR)/node_modules $(EDITOR)/../static/editor.js
	find bench src tests -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

tests/sdks/node_modules/.package-lock.json: tests/sdks/package-lock.json
	cd tests/sdks && npm ci
	@touch $@

# What the lock says, each file checked against its hash ...
.venv/.locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo \
		"keyplan needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." \
		"Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	@echo '$(CURDIR)' > .venv/.made-in
	@touch $@

# ... and then the project itself, with nothing fetched for it. `pip check` fails where the lock is behind pyproject.toml.
.venv/.ready: .venv/.locked pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index --editable .
	@$(BIN)/pip check --disable-pip-version-check || { echo "requirements.lock is behind pyproject.toml: make lock" >&2; exit 1; }
	@touch $@
