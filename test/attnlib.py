# attnlib.py - libraries made by attnc, from Python, through runtime/attn.h and ctypes alone. For tests and the benchmark.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
from array import array
from ctypes import POINTER, c_char_p, c_double, c_float, c_int32, c_int64, c_void_p


class Dim(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("size", c_int64)]


class Value(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_int32),
        ("rank", c_int32),
        ("dims", POINTER(Dim)),
        ("has_default", c_int32),
        ("default_number", c_double),
        ("limit", c_int64),
    ]


class Function(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("sequences", c_int32),
        ("params", c_int32),
        ("results", c_int32),
        ("sequence_names", POINTER(c_char_p)),
        ("sequence_kinds", POINTER(c_int32)),
        ("sequence_limits", POINTER(c_int64)),
        ("param", POINTER(Value)),
        ("result", POINTER(Value)),
        ("missing", c_char_p),
    ]


class Error(Exception):
    pass


class Model:
    """A model of a compiled library. `path` is its folder, or None for one without weights and configuration."""

    def __init__(self, library, path=None, threads=0):
        self.lib = ctypes.CDLL(str(library))
        for name, result in [
            ("model_create", c_void_p),
            ("session_create", c_void_p),
            ("model_function", POINTER(Function)),
            ("last_error", c_char_p),
            ("output_size", c_int64),
            ("model_note", c_char_p),
        ]:
            getattr(self.lib, "attn_" + name).restype = result
        self.handle = c_void_p(self.lib.attn_model_create(str(path).encode() if path else None))
        if not self.handle:
            raise Error(self.last_error())
        self.lib.attn_model_threads(self.handle, threads)

    def last_error(self):
        return self.lib.attn_last_error().decode()

    def threads(self, number):
        return self.lib.attn_model_threads(self.handle, number)

    def function(self, name):
        """Its number and its signature."""
        index = self.lib.attn_function_find(self.handle, name.encode())
        if index < 0:
            raise Error(f"no function {name}")
        return index, self.lib.attn_model_function(self.handle, index).contents

    def prepare(self, name, inputs, offsets, capacity=65536):
        """A call ready to be made again and again: `inputs` one array (or None) a parameter, `offsets` one list a dimension."""
        return Call(self, name, inputs, offsets, capacity)

    def run(self, name, inputs, offsets, capacity=65536):
        """The results of one call, one array('f') each."""
        call = self.prepare(name, inputs, offsets, capacity)
        call()
        return call.outputs()

    def __del__(self):
        if getattr(self, "handle", None):
            self.lib.attn_model_free(self.handle)
            self.handle = None


class Call:
    def __init__(self, model, name, inputs, offsets, capacity):
        self.model, lib = model, model.lib
        self.index, function = model.function(name)
        assert len(inputs) == function.params and len(offsets) == function.sequences
        self.n = len(offsets[0]) - 1
        self.sessions = (c_void_p * self.n)()
        for i in range(self.n):
            self.sessions[i] = lib.attn_session_create(model.handle, c_int64(capacity))
            if not self.sessions[i]:
                raise Error(model.last_error())
        self.lists = [(c_int64 * len(row))(*row) for row in offsets]
        self.offsets = (POINTER(c_int64) * len(offsets))(*[ctypes.cast(row, POINTER(c_int64)) for row in self.lists])
        self.kept = inputs  # their memory is what the library reads
        addresses = [None if values is None else values.buffer_info()[0] or ctypes.addressof(self.sessions) for values in inputs]
        self.inputs = (c_void_p * len(inputs))(*addresses)
        sizes = [lib.attn_output_size(model.handle, self.index, r, c_int64(self.n), self.offsets) for r in range(function.results)]
        if min(sizes) < 0:
            raise Error(model.last_error())
        self.buffers = [(c_float * max(size, 1))() for size in sizes]
        self.sizes = sizes
        self.results = (c_void_p * len(sizes))(*[ctypes.addressof(buffer) for buffer in self.buffers])

    def __call__(self):
        failed = self.model.lib.attn_run(self.sessions, c_int64(self.n), self.index, self.inputs, self.offsets, self.results)
        if failed:
            raise Error(self.model.last_error())

    def outputs(self):
        return [array("f", buffer[:size]) for buffer, size in zip(self.buffers, self.sizes)]

    def __del__(self):
        for session in getattr(self, "sessions", []):
            self.model.lib.attn_session_free(c_void_p(session))
