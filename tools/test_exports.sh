#!/bin/sh
# Reads exports with pandas, PyArrow and amazon.ion, in an environment of its own. Arguments are passed to pytest.
set -eu
env=.venv-exports
trap 'rm -rf "$env"' EXIT
"${PYTHON:-python3}" -m venv --clear "$env"
"$env/bin/pip" install --quiet --disable-pip-version-check --editable . amazon.ion httpx hypothesis pandas pyarrow pytest
"$env/bin/pytest" -q tests/readers "$@"
