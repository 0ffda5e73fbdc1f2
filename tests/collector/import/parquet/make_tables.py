#!/usr/bin/env python3
"""Writes the tables that parquet_test.cc reads; needs pyarrow, and is run by hand.

    tests/collector/import/parquet/make_tables.py FOLDER

Every table has 300 rows. Row i: step = i (null where i % 7 == 3), optype = "kind" + i % 3,
start_ts = i / 4, extra = a list, never read.
"""
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 300


def table(integer=pa.int64(), real=pa.float64(), nulls=True, nested=False):
    step = [None if nulls and i % 7 == 3 else i for i in range(ROWS)]
    columns = {
        "extra": pa.array([[i, i + 1] for i in range(ROWS)]),
        "step": pa.array(step, integer),
        "optype": pa.array([f"kind{i % 3}" for i in range(ROWS)]),
        "start_ts": pa.array([i / 4 for i in range(ROWS)], real),
    }
    if nested:
        columns["step"] = pa.array([[s] for s in step])
    return pa.table(columns)


def main(folder):
    def write(name, rows, **options):
        options.setdefault("write_statistics", False)
        options.setdefault("store_schema", False)
        pq.write_table(rows, folder / f"{name}.parquet", **options)

    write("snappy_dictionary", table(), compression="snappy")
    write("plain_none", table(), compression="none", use_dictionary=False)
    write("gzip_v2", table(), compression="gzip", data_page_version="2.0")
    write("zstd_small_types", table(pa.int32(), pa.float32()),
          compression="zstd")
    write("row_groups", table(), row_group_size=64, data_page_size=128)
    write("required", table(nulls=False).cast(pa.schema(
        [pa.field("extra", pa.list_(pa.int64())), pa.field("step", pa.int64(), False),
         pa.field("optype", pa.string(), False), pa.field("start_ts", pa.float64(), False)])))
    write("nested", table(nested=True))
    write("delta", table(), use_dictionary=False, column_encoding={"step": "DELTA_BINARY_PACKED"})
    write("lz4", table(), compression="lz4")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
