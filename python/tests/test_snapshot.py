"""The snapshot of the engine is built once, and never used if it is not whole or belongs to other files."""

import os
import subprocess
import sys

import pytest
from customshouse._snapshot import open_snapshot


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    script, library = tmp_path / "core.js", tmp_path / "engine.so"
    script.write_text("1")
    library.write_text("2")
    return script, library


def count_builds(files, content=b"heap"):
    built = []
    found = open_snapshot(*files, lambda: built.append(1) or content)
    return found, len(built)


def test_it_is_built_once(files):
    assert count_builds(files) == (b"heap", 1)
    assert count_builds(files, b"other") == (b"heap", 0)


@pytest.mark.parametrize("changed", [0, 1])
def test_a_changed_script_or_engine_builds_another_and_removes_the_old_one(files, changed):
    count_builds(files)
    files[changed].write_text("a longer text")
    assert count_builds(files, b"new") == (b"new", 1)
    assert len(list((files[0].parent / "__pycache__").iterdir())) == 1


def test_a_file_that_is_not_whole_is_not_used(files):
    count_builds(files)
    (path,) = (files[0].parent / "__pycache__").iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    assert count_builds(files, b"again") == (b"again", 1)


def test_nothing_is_built_where_python_writes_no_bytecode(files, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert count_builds(files) == (None, 0)


def test_a_guard_decides_the_same_with_and_without_it():
    program = 'from customshouse import quickstart; print(quickstart().input("Use key sk-" + "ABCDEF1234567890").rule)'
    for value in ("", "", "1"):
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": value}
        ran = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
        assert ran.stdout == "builtin.secret.input\n"
