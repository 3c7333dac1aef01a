#!/bin/sh
# Runs the tests of aiobotocore in an environment of its own, because it accepts only a few releases of botocore.
# Arguments are passed to pytest.
set -eu
env=.venv-aio
trap 'rm -rf "$env"' EXIT
"${PYTHON:-python3}" -m venv --clear "$env"
"$env/bin/pip" install --quiet --disable-pip-version-check --editable '.[aio]' 'aiobotocore[httpx2]' hypothesis httpx pytest
"$env/bin/pip" list --disable-pip-version-check | grep -i boto
"$env/bin/pytest" -q tests/aio "$@"
