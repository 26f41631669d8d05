# inspect.py ROOT LIBRARY.so OBJECT.o: what a library needs and shows, what an object needs, against the headers' promises.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib
import re
import subprocess
import sys

root, library, obj = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def symbols(*command):
    """Names in the last column of llvm-nm."""
    return {line.split()[-1].split("@")[0] for line in lines(*command) if line.strip()}


def expect(what, got, allowed, needed=frozenset()):
    wrong, absent = sorted(set(got) - set(allowed)), sorted(set(needed) - set(got))
    if wrong or absent:
        sys.exit(f"{what}: not expected {wrong}, absent {absent}")
    print(f"{what}: {' '.join(sorted(got))}")


header = (root / "runtime" / "attn.h").read_text()
interface = set(re.findall(r"ATTN_API [^;(]*?(attn_\w+)\(", header))
contract = set(re.findall(r"\b(attn_rt_\w+)\(", (root / "runtime" / "abi.h").read_text()))
assert len(interface) > 15 and contract, "the headers were not understood"

needed = {re.search(r"\[(.*)\]", line)[1] for line in lines("llvm-readelf", "-d", library) if "(NEEDED)" in line}
expect("needed", needed, {"libc.so.6", "libm.so.6"}, {"libc.so.6"})
expect("exported", symbols("llvm-nm", "-D", "--defined-only", library), interface, interface)

undefined = symbols("llvm-nm", "--undefined-only", obj)
expect("undefined in the object", undefined, {"memcpy", "memmove", "memset"} | contract)
if len(contract) > 25:
    sys.exit(f"abi.h has {len(contract)} functions")
