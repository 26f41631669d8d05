# tensors.py - .safetensors files in plain Python, for the tests: read, write, and a few ways to spoil one.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   python3 -m tensors add IN OUT NAME         a copy with one more tensor, of three zeros
#   python3 -m tensors nudge IN OUT NAME BY    a copy in which the first number of a tensor is larger by BY
#   python3 -m tensors drop IN OUT NAME…       a copy without some tensors
#   python3 -m tensors scalar IN OUT NAME      a copy in which a tensor is only its first number, without a dimension
#   python3 -m tensors mask IN OUT NAME B N    a copy with integers [B, N], all 1 but the first of each row
#   python3 -m tensors double IN OUT NAME      a copy in which a tensor is of type F64
#   python3 -m tensors show FILE               names, types and shapes
import json
import struct
import sys
from array import array

CODES = {"F32": "f", "I64": "q", "I32": "i", "F64": "d", "U8": "B", "F16": "H", "BF16": "H"}  # half floats as their bits


class Tensor:
    """A type as the file spells it, a shape, and the numbers in row-major order."""

    def __init__(self, dtype, shape, values):
        self.dtype, self.shape, self.values = dtype, list(shape), array(CODES[dtype], values)


def read(path):
    with open(path, "rb") as file:
        blob = file.read()
    (length,) = struct.unpack_from("<Q", blob)
    header = json.loads(blob[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = Tensor(entry["dtype"], entry["shape"], ())
        tensors[name].values.frombytes(blob[begin:end])
    return tensors


def write(path, tensors):
    header, data = {}, bytearray()
    for name, tensor in tensors.items():
        bytes_ = tensor.values.tobytes()
        offsets = [len(data), len(data) + len(bytes_)]
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": offsets}
        data += bytes_
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def main(command, source, *rest):
    tensors = read(source)
    if command == "show":
        for name, tensor in tensors.items():
            print(name, tensor.dtype, tensor.shape)
        return
    target, name = rest[:2]
    if command == "drop":
        tensors = {key: tensor for key, tensor in tensors.items() if key not in rest[1:]}
    elif command == "add":
        tensors[name] = Tensor("F32", [3], [0, 0, 0])
    elif command == "scalar":
        tensors[name] = Tensor(tensors[name].dtype, [], tensors[name].values[:1])
    elif command == "mask":
        sequences, length = map(int, rest[2:])
        tensors[name] = Tensor("I64", [sequences, length], ([0] + [1] * (length - 1)) * sequences)
    elif command == "double":
        tensors[name] = Tensor("F64", tensors[name].shape, tensors[name].values)
    elif command == "nudge":
        values = tensors[name].values
        values[0] += type(values[0])(float(rest[2]))
    write(target, tensors)


if __name__ == "__main__":
    main(*sys.argv[1:])
