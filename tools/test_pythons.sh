#!/bin/sh
# The tests on every Python from 3.11 on that is installed here; says which ones are missing.
set -u
failed=0
for version in 3.11 3.12 3.13 3.14; do
    python=$(command -v "python$version" || command -v "$HOME/.pyenv/shims/python$version" || true)
    if [ -z "$python" ] || ! "$python" -c 'import sys' 2>/dev/null; then
        echo "*** NOT TESTED: python$version is not installed here. ***"
        continue
    fi
    echo "python$version:"
    env=".venv-$version"
    "$python" -m venv --clear "$env" &&
        "$env/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock &&
        "$env/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index --editable . &&
        "$env/bin/pytest" -q -n auto --maxprocesses 8 --dist worksteal || failed=1
    rm -rf "$env"
done
exit $failed
