# Two commands are enough: `make serve` and `make test`. Both build .venv first if it is missing or out of date.

PYTHON ?= python3
BIN := .venv/bin
# Shows how far a step of the set-up is. What the step itself says goes to a log, and to the terminal if it fails.
STEP := $(PYTHON) tools/progress.py --log .venv/setup.log

# Tests start hundreds of commands. Without bytecode, each would compile everything again.
unexport PYTHONDONTWRITEBYTECODE

# A virtual environment breaks if it is moved or copied, or if the Python it was built with is removed. Rebuild it then.
ifneq ($(shell cat .venv/.made-in 2>/dev/null),$(CURDIR))
.venv/.locked: rebuild
else ifeq ($(wildcard $(BIN)/python),)
.venv/.locked: rebuild
endif

.DEFAULT_GOAL := help
.PHONY: help setup serve attack test test-compat test-long test-crash test-sdks test-engines test-aio test-exports test-infra test-recipes bench-engine bench-data bench-api fmt docs editor lock clean rebuild chromium axe servers coverage test-wheel test-pythons test-newest counts walks lines

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

setup: .venv/.ready editor ## build .venv if it is missing or out of date

serve: .venv/.ready editor ## run the systems on this machine with demo data, in keyplan.db
	@exec $(BIN)/keyplan serve --demo --dev --path keyplan.db

test: .venv/.ready editor chromium axe servers ## run linter, format check, type checker and tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest -q -n auto --maxprocesses 8 --dist worksteal

# Pages are tested in Debian's Chromium, most of them in its headless shell: without the windows around a page, that takes
# a third of the time.
chromium:
	@{ command -v chromium && command -v chromium-headless-shell; } >/dev/null || { [ "$$(id -u)" = 0 ] && \
		command -v apt-get && { apt-get update -q; export DEBIAN_FRONTEND=noninteractive; \
		apt-get install -y -q chromium chromium-headless-shell || apt-get install -y -q chromium; }; } >/dev/null 2>&1 || \
		command -v chromium >/dev/null || \
		echo "*** NOT TESTED: chromium isn't installed and can't be installed here, so no page is tested in a browser. ***" >&2

# axe-core looks for what keeps people from using a page. It is installed from npm, for tests only.
axe:
	@if command -v npm >/dev/null && $(MAKE) -s --no-print-directory tests/axe/node_modules/.package-lock.json; then :; else \
		echo "*** NOT TESTED: axe-core can't be installed (npm is missing or failed), so accessibility is not tested. ***" >&2; fi

# Two other DynamoDB servers get the same random requests as the engine. They are installed from npm, for tests only.
servers:
	@if command -v npm >/dev/null && $(MAKE) -s --no-print-directory tests/engines/node_modules/.package-lock.json; then :; else \
		echo "*** NOT TESTED: other DynamoDB servers can't be installed (npm is missing or failed), so the engine isn't compared with them. ***" >&2; fi

# Private interfaces of other libraries are used only with tested releases; see compat.py in design, data and web.
test-compat: .venv/.ready ## test design, data and web without private interfaces of other libraries
	KEYPLAN_NO_FAST_PATHS=1 $(BIN)/pytest -q -n auto --maxprocesses 8 --dist worksteal tests/data tests/design tests/web

coverage: .venv/.ready editor chromium axe servers ## run the tests with branch coverage, subprocesses included; fails below the floor
	@rm -rf .coverage && mkdir .coverage
	$(BIN)/coverage run -m pytest -q -n auto --maxprocesses 8 --dist worksteal
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

test-wheel: .venv/.ready editor ## build the wheel, install it into an empty environment, run the README's first design
	$(BIN)/python -m tools.try_wheel

test-pythons: ## run the tests on every installed Python from 3.11 on
	@sh tools/test_pythons.sh

test-newest: ## run the tests with the newest release of every dependency
	@sh tools/test_newest.sh

test-aio: ## test aiobotocore's sessions and clients on the engine, in an environment of its own
	@sh tools/test_aio.sh

test-exports: ## read exports with pandas, PyArrow and amazon.ion, in an environment of its own
	@sh tools/test_exports.sh

test-infra: ## run the CDK apps that `keyplan infra` writes, and let Terraform check its configuration (needs Node.js)
	@sh tools/test_infra.sh

test-recipes: ## run the examples of docs/programs.md, with the libraries that they need
	@sh tools/test_recipes.sh

counts: .venv/.ready ## count how often fields are declared, and what the systems repeat
	@$(BIN)/python -m tools.counts

walks: .venv/.ready ## count the functions and modules that four requests pass through
	@$(BIN)/python -m tools.walks

test-long: .venv/.ready ## run random operations against models for longer than `make test` does (about 20 minutes)
	KEYPLAN_TEST_LONG=1 $(BIN)/pytest -q -o faulthandler_timeout=3600 tests/engine/durability/test_model.py tests/engine/durability/test_log_binding.py tests/cli/test_files.py tests/engine/backups tests/engine/exports/test_kills.py tests/engines/test_differences.py tests/data/test_machine.py tests/apps/test_five_designs.py

test-crash: .venv/.ready ## kill a writing server 200 times, and check its data
	KEYPLAN_CRASH_ROUNDS=200 $(BIN)/pytest -q -o faulthandler_timeout=3600 tests/engine/durability/test_crash.py

test-sdks: .venv/.ready ## test the JavaScript SDK v3 against the endpoint (needs Node.js and npm)
	@command -v node >/dev/null && command -v npm >/dev/null || { echo \
		"*** NOT TESTED: Node.js (20 or newer) or npm is missing, so the JavaScript SDK was not tested. ***" >&2; exit 1; }
	@$(MAKE) --no-print-directory tests/sdks/node_modules/.package-lock.json
	node --test tests/sdks/

# Both servers are programs for Linux on x64. They are installed from npm, for tests only; docs/servers.md says what fails.
test-engines: .venv/.ready ## run guides, recipes and designs on two other DynamoDB servers (needs npm)
	@if command -v npm >/dev/null && $(MAKE) -s --no-print-directory tests/engines/node_modules/.package-lock.json; then :; else echo \
		"*** NOT TESTED: other DynamoDB servers can't be installed (npm is missing or failed), so none was tested. ***" >&2; exit 1; fi
	$(BIN)/pytest -q -n auto --maxprocesses 8 --dist worksteal -p tests.engines.plugin tests/designs tests/patterns/test_recipes.py \
		tests/apps/test_guides.py tests/apps/test_hacktracker_guide.py

bench-engine: .venv/.ready ## compare the engine with what you would use instead
	$(BIN)/python -m bench.engine

bench-api: .venv/.ready ## compare a system's API with a bare FastAPI handler
	$(BIN)/python -m bench.api

attack: .venv/.ready ## attack a server on this machine, and show what a normal user notices (about 2 minutes)
	$(BIN)/python -m bench.attack

bench-data: .venv/.ready ## compare the data layer with raw boto3 and other libraries
	$(BIN)/python -m bench.data

lines: .venv/.ready ## run the same shop with Keyplan and other libraries, and count their code
	$(BIN)/python -m bench.lines

fmt: .venv/.ready ## format the code, and fix what the linter can fix
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Typer writes the reference of its applications. A test fails if it is out of date.
docs: .venv/.ready ## update the parts of the documentation that come from the code
	$(BIN)/python -m typer keyplan.cli utils docs --name keyplan --output docs/cli.md
	$(BIN)/python -m tools.write_docs
	$(BIN)/python -m tools.write_patterns

# vcm's rich text editor, from npm packages. If it can't be built, vcm's forms accept Markdown instead.
EDITOR := src/keyplan/apps/vcm/editor
editor: ## build vcm's rich text editor, if npm is installed
	@if command -v npm >/dev/null; then $(MAKE) -s --no-print-directory $(EDITOR)/../static/editor.js || \
		echo "*** vcm's editor could not be built. Its forms accept Markdown instead. ***" >&2; fi

$(EDITOR)/../static/editor.js: $(EDITOR)/package-lock.json $(EDITOR)/main.js
	@$(STEP) "Building vcm's editor" sh -c \
		'cd $(EDITOR) && npm ci --no-audit --no-fund --fetch-retries 1 --fetch-timeout 20000 && npm run --silent build'
	@touch $@

# One file for every platform and Python version. Versions in it are kept as long as they match pyproject.toml; delete the
# file first to update everything.
lock: ## update requirements.lock from pyproject.toml
	@set -e; tools=$$(mktemp -d); trap 'rm -rf "$$tools"' EXIT; \
	$(PYTHON) -m venv "$$tools"; \
	"$$tools/bin/pip" install --quiet uv; \
	"$$tools/bin/uv" pip compile pyproject.toml --quiet --extra systems --extra types --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --custom-compile-command "make lock" --output-file requirements.lock; \
	"$$tools/bin/uv" pip compile pyproject.toml tests/recipes/requirements.in --quiet --extra web --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" \
		--output-file tests/recipes/requirements.lock

clean: ## remove everything that was built, except data files
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage dist tests/sdks/node_modules tests/axe/node_modules tests/engines/node_modules $(EDITOR)/node_modules $(EDITOR)/../static/editor.js
	find bench src tests -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

tests/sdks/node_modules/.package-lock.json: tests/sdks/package-lock.json
	cd tests/sdks && npm ci
	@touch $@

tests/axe/node_modules/.package-lock.json: tests/axe/package-lock.json
	cd tests/axe && npm ci --silent --no-audit --no-fund --fetch-retries 1 --fetch-timeout 20000
	@touch $@

tests/engines/node_modules/.package-lock.json: tests/engines/package-lock.json
	cd tests/engines && npm ci --silent --no-audit --no-fund --fetch-retries 1 --fetch-timeout 20000
	@touch $@

# Install what is in the lock, with each file checked against its hash ...
.venv/.locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo \
		"keyplan needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." \
		"Use another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(STEP) "Making .venv" $(PYTHON) -m venv --clear .venv
	@$(STEP) --count '(Collecting|Ignoring) ' --total 'requirements.lock:^[\w.\[\]-]+==' "Installing packages" \
		$(BIN)/pip install --disable-pip-version-check --progress-bar off --require-hashes --no-deps -r requirements.lock
	@echo '$(CURDIR)' > .venv/.made-in
	@touch $@

# ... and then the project itself, without downloads. `pip check` fails if the lock is out of date.
.venv/.ready: .venv/.locked pyproject.toml
	@$(STEP) "Installing Keyplan" \
		$(BIN)/pip install --disable-pip-version-check --no-deps --no-build-isolation --no-index --editable .
	@$(BIN)/pip check --disable-pip-version-check >>.venv/setup.log || { tail -5 .venv/setup.log >&2; \
		echo "requirements.lock is out of date. Run: make lock" >&2; exit 1; }
	@touch $@
