#!/usr/bin/env python3
"""through-pipe.py PIPE COMMAND…: runs a command that writes to a named pipe and prints what came out of it."""
import subprocess
import sys

with subprocess.Popen(sys.argv[2:]) as process:
    with open(sys.argv[1], "rb") as pipe:
        sys.stdout.buffer.write(pipe.read())
sys.exit(process.returncode)
