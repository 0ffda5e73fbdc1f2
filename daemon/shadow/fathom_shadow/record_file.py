"""The record of one rank as a file (docs/formats/shadow_record.md): written while the rank runs, read by a joiner.

    magic · blobs, each on a multiple of 64 bytes · index (JSON) · offset of the index (u64, little endian) · magic

A file is there whole or not at all: it is written under another name and renamed.
"""
import ctypes
import json
import mmap
import os
import zlib

import torch

MAGIC = b"FTHMSHD1"
ALIGNMENT = 64
TAIL = 16


def path_of(folder, rank):
    return os.path.join(folder, f"rank-{rank}.shadow")


def bytes_of(tensor):
    """The bytes of a tensor as a buffer, and who owns them."""
    whole = tensor.detach().cpu().contiguous()
    size = whole.numel() * whole.element_size()
    return (ctypes.c_ubyte * size).from_address(whole.data_ptr()) if size else b"", whole


def sum_of(tensors):
    total = 0
    for tensor in tensors:
        data, _owner = bytes_of(tensor)
        total = zlib.crc32(data, total)
    return total


class Writer:
    """Appends the bytes of tensors. Not thread-safe."""

    def __init__(self, path):
        self._path, self._part = path, f"{path}.part-{os.getpid()}"
        self._file = open(self._part, "wb")
        self._file.write(MAGIC)

    def append(self, tensor):
        """[type, shape, offset], as the index tells of a tensor."""
        data, _owner = bytes_of(tensor)
        self._file.write(b"\0" * (-self._file.tell() % ALIGNMENT))
        offset = self._file.tell()
        self._file.write(data)
        return [str(tensor.dtype).removeprefix("torch."), list(tensor.shape), offset]

    def close(self, index):
        offset = self._file.tell()
        self._file.write(json.dumps(index).encode())
        self._file.write(offset.to_bytes(8, "little") + MAGIC)
        self._file.close()
        os.replace(self._part, self._path)

    def drop(self):
        self._file.close()
        os.unlink(self._part)


class Reader:
    """`index`, and the tensors that it names. ValueError: not a whole record."""

    def __init__(self, path):
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < len(MAGIC) + TAIL:
                raise ValueError(f"{path} is not a record")
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        if self._data[:8] != MAGIC or self._data[-8:] != MAGIC:
            raise ValueError(f"{path} is not a whole record")
        self._end = int.from_bytes(self._data[-TAIL:-8], "little")
        if not len(MAGIC) <= self._end <= size - TAIL:
            raise ValueError(f"{path} has no index where it says")
        self.index = json.loads(self._data[self._end:size - TAIL])

    def tensor(self, told):
        """A view of the file."""
        name, shape, offset = told
        dtype = getattr(torch, name)
        count = 1
        for dimension in shape:
            count *= dimension
        if count == 0:
            return torch.empty(shape, dtype=dtype)
        if offset % ALIGNMENT or offset < 0 or offset + count * dtype.itemsize > self._end:
            raise ValueError("a result lies outside of the record")
        return torch.frombuffer(self._data, dtype=dtype, count=count, offset=offset).view(shape)
