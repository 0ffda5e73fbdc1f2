"""The list of functions of products (functions.h, and what cublas_shims.cc adds) against exports.map and the page."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).parents[4]))
ADDED = {"cublasSetMathMode", "cublasLtMatmul"}


def main():
    text = (ROOT / "daemon/tracer/interpose/blas/functions.h").read_text()
    names = set(re.findall(r"\b(\w*gemm_|cblas_\w+|cublas\w+)[,)]", text[text.index("#define FATHOM_CPU_GEMM"):])) | ADDED
    exports = set(re.findall(r"^\s+(\w+);", (ROOT / "daemon/tracer/exports.map").read_text(), re.MULTILINE))
    page = set(re.findall(r"`(\w+)`", (ROOT / "docs/tracer/products.md").read_text()))
    found = [f"{n}: hooked, not in exports.map" for n in sorted(names - exports)]
    found += [f"{n}: in exports.map, not hooked" for n in sorted(exports - names) if re.match(r"\w*gemm_$|c(u|_)?blas", n)]
    found += [f"{n}: not on docs/tracer/products.md" for n in sorted(names - page)]
    print("\n".join(found) if found else f"{len(names)} functions: list, exports and page agree")
    return 1 if found else 0


sys.exit(main())
