// What one rank's devices and its training thread did, as a profiler saw it: the input of the
// classic tables.
//
// Filled by an importer while it reads a trace, one rank at a time; read by rank_tables.cc, after
// which it is dropped. It keeps 40 bytes of a kernel or copy and 24 of an op of the framework, not
// the events.
//
// Units: ns of one clock per rank; bytes. Names are indices into `names`.
// Thread-safety: plain values. Ownership: owns all it holds.
#ifndef FATHOM_DIAGNOSIS_TABLES_DEVICE_WORK_H_
#define FATHOM_DIAGNOSIS_TABLES_DEVICE_WORK_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace fathom::diagnosis {

enum class WorkKind : std::uint8_t { kCompute, kCommunication, kCopy };

inline constexpr std::int64_t kNotLaunched = std::numeric_limits<std::int64_t>::min();

// A kernel, copy or set on a device.
struct DeviceWork {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t launch_begin = kNotLaunched;  // of the call on the host, if that was seen
  std::int64_t launch_end = kNotLaunched;

  bool launched() const { return launch_begin != kNotLaunched; }
  std::uint32_t name = 0;
  std::uint16_t stream = 0;  // index into RankWork::streams
  WorkKind kind = WorkKind::kCompute;
};

// An op of the framework on the training thread; ops nest.
struct HostOp {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t name = 0;
};

struct CopyBytes {
  std::uint64_t count = 0;  // copies that told their size
  std::uint64_t bytes = 0;
  double ns = 0;  // of those
};

struct RankWork {
  std::vector<DeviceWork> device;
  std::vector<HostOp> host_ops;
  std::vector<std::int64_t> streams;  // as the trace numbers them
  std::vector<std::string> names;
  std::map<std::string, CopyBytes> copies;  // by kind: "Memcpy DtoH", "Memset"
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_TABLES_DEVICE_WORK_H_
