#!/bin/sh
# Builds fathom-probe-cuda by nvcc and g++ alone and runs it: the GPUs' figures as a table, then the same
# with a bit flipped in each result, which must be found.
#
#   deploy/gpu_check/build_probes.sh [OUT_FOLDER] [ARCHITECTURE]     ["build/probes", the GPU's own]
#
# Needs nvcc in PATH or /usr/local/cuda (12.4 or newer); cuBLASLt is found where Python's packages have
# it. Exit code: that of the table.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-build/probes}
PATH=$PATH:/usr/local/cuda/bin
arch=${2:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d . | sed s/^/sm_/)}
mkdir -p "$out/objects"

# As many at once as there are cores.
find kernels/cuda -name '*.cu' -o -path 'kernels/cuda/*.cc' | sort > "$out/sources"
ls kernels/measure/samples.cc kernels/measure/workers.cc kernels/suite/child_run.cc kernels/suite/probe_program.cc \
  kernels/suite/result_line.cc kernels/cpu/gemm.cc >> "$out/sources"
began=$(date +%s)
xargs -P "$(nproc)" -I{} sh -c '
  nvcc -std=c++20 -O3 -arch='"$arch"' -I. -c "{}" -o "'"$out"'/objects/$(echo "{}" | tr / _).o"' \
  < "$out/sources"
nvcc -arch="$arch" -cudart static "$out"/objects/*.o -o "$out/fathom-probe-cuda" -lpthread -ldl
echo "built in $(($(date +%s) - began)) s for $arch: $out/fathom-probe-cuda"
[ "${FATHOM_BUILD_ONLY:-}" = "" ] || exit 0

folders=$(python3 - <<'PY' 2> /dev/null || true
import glob, site, sys
roots = [*site.getsitepackages(), site.getusersitepackages(), *sys.path]
found = {f.rsplit("/", 1)[0] for root in roots for f in glob.glob(f"{root}/nvidia/**/libcublasLt.so.1*", recursive=True)}
print(":".join(sorted(found)))
PY
)
[ "$folders" != "" ] || folders=$(timeout 10 find /usr /opt /home /root -name 'libcublasLt.so.1*' 2> /dev/null | head -1 | xargs -r dirname)
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:$folders:/usr/local/cuda/lib64
export LD_LIBRARY_PATH
exec python3 deploy/gpu_check/probe_table.py "$out"
