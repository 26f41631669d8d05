#!/usr/bin/env python3
"""pieces.py COMMAND…: runs it with a pipe as stdout and shows what each of its writes held; each has to be whole UTF-8."""
import os
import subprocess
import sys

reader, writer = os.pipe2(os.O_DIRECT)  # a pipe that keeps writes apart
with subprocess.Popen(sys.argv[1:], stdout=writer):
    os.close(writer)
    pieces = []
    while piece := os.read(reader, 4096):
        pieces.append(repr(piece.decode()))
print(*pieces)
