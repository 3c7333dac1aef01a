#!/bin/sh
# Runs the tests with the newest release of every dependency, whatever requirements.lock says. Arguments are passed to pytest.
set -eu
env=.venv-newest
trap 'rm -rf "$env"' EXIT
"${PYTHON:-python3}" -m venv --clear "$env"
"$env/bin/pip" install --quiet --disable-pip-version-check --upgrade pip
"$env/bin/pip" install --quiet --disable-pip-version-check --editable '.[systems,types]' --group dev
"$env/bin/pip" list --outdated --disable-pip-version-check || true
"$env/bin/pytest" -q -n auto --maxprocesses 8 --dist worksteal "$@"
