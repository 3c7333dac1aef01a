#!/bin/sh
# Runs the tests on every installed Python from 3.11 on, and says which ones are missing. Arguments are passed to pytest;
# PYTHONS="3.12 3.13" runs only some.
set -u

# The path of a Python that starts: from PATH, or from pyenv, whose commands on PATH only start selected versions.
find_python() {
    if "python$1" -c '' 2>/dev/null; then
        command -v "python$1"
    elif command -v pyenv >/dev/null; then
        installed=$(pyenv versions --bare | grep "^$1\.[0-9]*$" | sort -t. -k3n | tail -n 1)
        [ -z "$installed" ] || echo "$(pyenv prefix "$installed")/bin/python"
    fi
}

failed=0
for version in ${PYTHONS:-3.11 3.12 3.13 3.14}; do
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        echo "*** NOT TESTED: Python $version isn't installed. ***"
        continue
    fi
    "$python" --version
    env=".venv-$version"
    "$python" -m venv --clear "$env" &&
        "$env/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock &&
        "$env/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index --editable . &&
        "$env/bin/pytest" -q -n auto --maxprocesses 8 --dist worksteal "$@" || failed=1
    rm -rf "$env"
done
exit $failed
