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


class Count(ctypes.Structure):
    _fields_ = [("name", c_char_p)] + [(name, c_int64) for name in ("query_tiles", "full_tiles", "partial_tiles", "bytes")]


class Error(Exception):
    pass


class Model:
    """A model of a compiled library. `path` is its folder, or None for one without weights and configuration."""

    def __init__(self, library, path=None, threads=0):
        self.lib = ctypes.CDLL(str(library))
        for name, result in [
            ("model_create", c_void_p),
            ("session_create", c_void_p),
            ("session_fork", c_void_p),
            ("session_length", c_int64),
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

    def counts(self):
        """Of each attention: name, tiles of queries, full tiles, partial tiles, bytes read; empty unless made to count."""
        found, count = [], Count()
        while self.lib.attn_model_count(self.handle, len(found), ctypes.byref(count)) == 0:
            found.append((count.name.decode(), count.query_tiles, count.full_tiles, count.partial_tiles, count.bytes))
        return found

    def prepare(self, name, inputs, offsets, capacity=65536, after=None):
        """A call ready to be made again and again: `inputs` one array (or None) a parameter, `offsets` one list a dimension.
        Its sessions are new, or those of the call `after`."""
        return Call(self, name, inputs, offsets, capacity, after)

    def run(self, name, inputs, offsets, capacity=65536):
        """The results of one call, one array('f') each."""
        call = self.prepare(name, inputs, offsets, capacity)
        call()
        return call.outputs()

    def __del__(self):
        if getattr(self, "handle", None):
            self.lib.attn_model_free(self.handle)
            self.handle = None


class Session:
    """What one sequence holds. Everything that fails raises Error with the library's words."""

    def __init__(self, model, capacity=0, handle=None):
        self.model, self.lib = model, model.lib
        self.handle = c_void_p(handle or self.lib.attn_session_create(model.handle, c_int64(capacity)))
        if not self.handle:
            raise Error(model.last_error())

    def done(self, failed):
        if failed:
            raise Error(self.model.last_error())

    def __len__(self):
        return self.lib.attn_session_length(self.handle)

    def reset(self):
        self.done(self.lib.attn_session_reset(self.handle))

    def truncate(self, length):
        self.done(self.lib.attn_session_truncate(self.handle, c_int64(length)))

    def keep(self, rows):
        self.done(self.lib.attn_session_keep(self.handle, (c_int64 * len(rows))(*rows), c_int64(len(rows))))

    def fork(self):
        handle = self.lib.attn_session_fork(self.handle)
        if not handle:
            raise Error(self.model.last_error())
        return Session(self.model, handle=handle)

    def run(self, name, *inputs):
        """The results of a call with this session alone: one array('f') each."""
        return run_together(self.model, name, [self], [inputs])[0]

    def __del__(self):
        if getattr(self, "handle", None):
            self.lib.attn_session_free(self.handle)


def run_together(model, name, sessions, inputs):
    """One call with several sessions: `inputs[b]` has one array a parameter. Returns for each session one array a result."""
    index, function = model.function(name)
    lengths = [[None] * function.sequences for _ in sessions]
    for b, given in enumerate(inputs):
        for p, values in enumerate(given):
            sequences, row = measure(function.param[p])
            if len(sequences) == 1:
                lengths[b][sequences[0]] = len(values) // row
    offsets = [(c_int64 * (len(sessions) + 1))() for _ in range(function.sequences)]
    for s, list_ in enumerate(offsets):
        for b in range(len(sessions)):
            list_[b + 1] = list_[b] + lengths[b][s]
    lists = (POINTER(c_int64) * max(len(offsets), 1))(*[ctypes.cast(list_, POINTER(c_int64)) for list_ in offsets])
    packed = [array("i" if function.param[p].type == 3 else "f") for p in range(function.params)]
    for given in inputs:
        for p, values in enumerate(given):
            packed[p].extend(array(packed[p].typecode, values))
    addresses = (c_void_p * max(len(packed), 1))(*[values.buffer_info()[0] or None for values in packed])
    sizes = [[size(function.result[r], lengths[b]) for b in range(len(sessions))] for r in range(function.results)]
    outputs = [array("f", bytes(4 * sum(each))) for each in sizes]
    results = (c_void_p * len(outputs))(*[values.buffer_info()[0] or None for values in outputs])
    handles = (c_void_p * len(sessions))(*[session.handle for session in sessions])
    if model.lib.attn_run(handles, c_int64(len(sessions)), index, addresses, lists, results):
        raise Error(model.last_error())
    answers = [[] for _ in sessions]
    for values, each in zip(outputs, sizes):
        at = 0
        for b, count in enumerate(each):
            answers[b].append(values[at : at + count])
            at += count
    return answers


def measure(value):
    """The sequence dimensions of a value, and how many numbers its other dimensions have together."""
    sizes = [value.dims[d].size for d in range(value.rank)]
    row = 1
    for each in sizes:
        row *= each if each >= 0 else 1
    return [-1 - each for each in sizes if each < 0], row


def size(value, lengths):
    sequences, count = measure(value)
    for s in sequences:
        count *= lengths[s]
    return count


class Call:
    def __init__(self, model, name, inputs, offsets, capacity, after=None):
        self.model, lib = model, model.lib
        self.index, function = model.function(name)
        assert len(inputs) == function.params and len(offsets) == function.sequences
        self.n = len(offsets[0]) - 1
        self.after = after  # which frees the sessions
        self.sessions = after.sessions if after else (c_void_p * self.n)()
        for i in range(0 if after else self.n):
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

    def truncate(self, length):
        for session in self.sessions:
            if self.model.lib.attn_session_truncate(c_void_p(session), c_int64(length)):
                raise Error(self.model.last_error())

    def __del__(self):
        for session in [] if getattr(self, "after", None) else getattr(self, "sessions", []):
            self.model.lib.attn_session_free(c_void_p(session))
