#!/bin/sh
# Runs the examples of docs/programs.md that need libraries of their own, in an environment with what is locked for them.
# Arguments are passed to pytest.
set -eu
env=.venv-recipes
trap 'rm -rf "$env"' EXIT
"${PYTHON:-python3}" -m venv --clear "$env"
"$env/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps -r tests/recipes/requirements.lock
"$env/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index --editable .
"$env/bin/pytest" -q tests/recipes "$@"
