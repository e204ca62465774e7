"""Begins the helper, or says why this Python can't be used: also old ones have to be able to read this file."""

import json
import os
import struct
import sys


def refuse(reason):
    header = json.dumps({"type": "dead", "reason": reason, "sizes": []}).encode("utf-8")
    os.write(1, struct.pack(">II", len(header), 0) + header)
    # The reader has all of it before it learns of the end.
    sys.exit(1)


def main():
    version = "%d.%d.%d" % tuple(sys.version_info[:3])
    if sys.platform == "win32":
        refuse("kernels other than Pyodide need Linux or macOS. On Windows, run Notebridge in WSL")
    if sys.version_info < (3, 8):
        refuse('"%s" is Python %s, and 3.8 is the oldest that works. Choose a newer Python' % (sys.executable, version))
    try:
        import zmq  # noqa: F401
        import jupyter_client._version
    except ImportError as error:
        refuse(
            'Python %s at "%s" cannot run a kernel: its package %s is missing or broken. Install it: "%s" -m pip install ipykernel'
            % (version, sys.executable, (getattr(error, "name", None) or "jupyter_client").split(".")[0], sys.executable)
        )
    found = jupyter_client._version.__version__
    if int(found.split(".")[0]) < 7:
        refuse(
            'jupyter_client %s of "%s" is too old, 7 is the oldest that works. Renew it: "%s" -m pip install --upgrade jupyter_client ipykernel'
            % (found, sys.executable, sys.executable)
        )
    from notebridge_jupyter.helper import run

    run(sys.argv[1])


if __name__ == "__main__":
    main()
