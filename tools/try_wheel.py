"""Build the wheel, install it into an empty environment, and try what a newcomer does first.

`pip install keyplan` has to be enough for the README's first design and for the commands about designs; the command
that serves systems has to say which extra it needs.
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXTRA = "pip install 'keyplan[systems]'"


def main() -> None:
    """Run all steps; the first that fails ends it."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT))
        (wheel,) = folder.glob("*.whl")
        venv.create(folder / "env", with_pip=True)
        python, keyplan = (str(folder / "env" / "bin" / name) for name in ("python", "keyplan"))
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
        (folder / "first.py").write_text(first_design(), "utf-8")
        run(python, "first.py", cwd=folder)
        run(keyplan, "tables", "first:Blog", cwd=folder)
        run(keyplan, "tables", "wavyblog", cwd=folder)
        run(keyplan, "dynamodb", "--help", cwd=folder)
        refused = subprocess.run([keyplan, "serve"], cwd=folder, capture_output=True, text=True, check=False)
        if refused.returncode != 2 or EXTRA not in refused.stderr:
            sys.exit(f"keyplan serve does not say how to get what it needs: {refused.stderr}")
        print(f"{wheel.name}: installed alone, it runs the README's first design and the commands about designs.")


def first_design() -> str:
    """The README's first design, as a program."""
    section = (ROOT / "README.md").read_text("utf-8").partition("## A first design")[2]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    if found is None:
        sys.exit("README.md has no first design.")
    return found[1]


def run(*command: str, cwd: Path | None = None) -> None:
    """Run a command; its failure ends the program."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
