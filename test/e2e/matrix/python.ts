/** A Python package in the `src` layout whose benchmark counts the lines that the interpreter executes. */
import type { Files } from '../../rig/repo.ts'

export const PYTHON_FILES: Files = {
  '.gitignore': '.venv/\n__pycache__/\n*.dist-info/\n',
  'pyproject.toml': `[build-system]
requires = []
build-backend = "backend"
backend-path = ["build"]

[project]
name = "tally"
version = "1.0"
`,
  // All that an editable install needs (PEP 660), so that it works without network and without setuptools.
  'build/backend.py': `import os, zipfile

PTH = "__editable__.tally.pth"


def build_editable(folder, config_settings=None, metadata_directory=None):
    info = "tally-1.0.dist-info"
    files = {
        PTH: os.path.join(os.getcwd(), "src") + "\\n",
        info + "/METADATA": "Metadata-Version: 2.1\\nName: tally\\nVersion: 1.0\\n",
        info + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: demo\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    record = "".join(name + ",,\\n" for name in [*files, info + "/RECORD"])
    with zipfile.ZipFile(os.path.join(folder, "tally-1.0-py3-none-any.whl"), "w") as wheel:
        for name, text in {**files, info + "/RECORD": record}.items():
            wheel.writestr(name, text)
    return "tally-1.0-py3-none-any.whl"
`,
  // What pip does with that wheel; pip itself takes four seconds for a virtualenv.
  'build/install.py': `import os, sys, sysconfig, tempfile, zipfile

sys.path.insert(0, "build")
import backend

with tempfile.TemporaryDirectory() as folder:
    with zipfile.ZipFile(os.path.join(folder, backend.build_editable(folder))) as wheel:
        wheel.extractall(sysconfig.get_path("purelib"))
`,
  'src/tally/__init__.py': `def count(words):
    found = {}
    for word in words:
        if word not in found:
            found[word] = 0
        found[word] = found[word] + 1
    return found
`,
  'bench/lines.py': `import sys
import tally

executed = 0


def trace(frame, event, arg):
    global executed
    if event == "line" and frame.f_code.co_filename == tally.__file__:
        executed += 1
    return trace


sys.settrace(trace)
found = tally.count(["a", "b", "a", "c", "a"])
sys.settrace(None)
if found != {"a": 3, "b": 1, "c": 1}:
    sys.exit("wrong counts")
print("METRIC lines=%d" % executed)
`,
}

export const PYTHON_BETTER: Files = {
  'src/tally/__init__.py': `from collections import Counter


def count(words):
    return dict(Counter(words))
`,
}

export const PYTHON_SPEC = {
  measure: { command: '.venv/bin/python bench/lines.py' },
  metric: { name: 'lines', direction: 'minimize' },
}

/** In a checkout: a virtualenv of its own that imports the checkout's own package. */
export const QUICK_INSTALL = 'python3 -m venv --without-pip .venv && .venv/bin/python build/install.py'
export const PIP_INSTALL =
  'python3 -m venv .venv && .venv/bin/pip install --disable-pip-version-check --no-index --no-build-isolation --editable .'
