"""Runs an example twice: as it is, and with harmless arguments, when its tool runs and the example must notice that.

run_example.py FOLDER SECRET [FILE]

FILE is the one that `customshouse setup` writes for the framework: it must define the names that its first lines import.
"""

import contextlib
import io
import pathlib
import re
import runpy
import sys
import tempfile

folder, secret, *files = sys.argv[1:]
sys.argv[1:] = []


def run(place):
    sys.modules.pop("scripted_model", None)
    sys.path.insert(0, place)
    try:
        runpy.run_path(f"{place}/agent.py", run_name="__main__")
    finally:
        sys.path.remove(place)


run(folder)
with tempfile.TemporaryDirectory() as copied:
    for file in pathlib.Path(folder).glob("*.py"):
        text = file.read_text().replace(secret, "none")
        pathlib.Path(copied, file.name).write_text(text)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            run(copied)
        sys.exit("The example does not notice a tool that runs.")
    except AssertionError as error:
        if str(error) != "the tool ran":
            raise

for file in files:
    made = runpy.run_path(file)
    used = re.search(rf"(?:from|import) service_{pathlib.Path(file).stem}(?: import (.+))?", made["__doc__"])
    missing = {*(used[1] or "").split(", ")} - {"", *made}
    if missing:
        sys.exit(f"{file} does not define {missing}.")
