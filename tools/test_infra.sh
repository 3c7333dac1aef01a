#!/bin/sh
# Runs the CDK apps that `keyplan infra` writes, in an environment of its own, and lets Terraform check its configuration.
# Needs Node.js. Arguments are passed to pytest.
set -eu
env=.venv-infra
trap 'rm -rf "$env"' EXIT
command -v node >/dev/null || { echo "*** NOT TESTED: Node.js is missing, which the CDK needs. ***" >&2; exit 1; }
"${PYTHON:-python3}" -m venv --clear "$env"
"$env/bin/pip" install --quiet --disable-pip-version-check --editable '.[systems]' aws-cdk-lib httpx hypothesis pytest
"$env/bin/pytest" -q -rs tests/cdk "$@"
