// NCCL's profiler-plugin interface, versions 3 to 6: what NCCL passes and what it calls.
//
// Used by plugin.cc. Sizes and offsets are asserted; tests/daemon/tracer/nccl plays NCCL's side.
//
// Model: a descriptor is a head (type, parent, rank) and a union by type. Only the parts that are
// read are declared. In versions 3 and 4 `type` is one byte, and the seven after it are padding.
// Version 3 repeats name and hash of the communicator in each event and has no GPU clock; 4 brings
// the clock; 5 the events of the user's calls, and moves an argument of init; 6 adds copy engines.
// NCCL 2.26 speaks 3; 2.27 up to 4; 2.28 up to 5; 2.29 and later up to 6 or more; each takes the
// newest that it finds.
// Source: NCCL's public plugin headers, 2.26 to 2.32. Thread-safety: types.
#ifndef FATHOM_DAEMON_TRACER_NCCL_PLUGIN_PROFILER_ABI_H_
#define FATHOM_DAEMON_TRACER_NCCL_PLUGIN_PROFILER_ABI_H_

#include <cstddef>
#include <cstdint>

namespace fathom::tracer::nccl_plugin {

inline constexpr int kOk = 0;                  // ncclSuccess
inline constexpr int kKernelChannelStop = 22;  // ncclProfilerKernelChStop, from version 4

// States of a proxy's op (version 3: with the count of steps so far), and of one step of it.
enum ProxyState : int {
  kOpSendPosted = 0,
  kOpSendTransmitted = 2,
  kOpSendDone = 3,
  kOpRecvPosted = 4,
  kOpRecvReceived = 5,
  kOpRecvTransmitted = 6,
  kOpRecvDone = 7,
  kStepSendGpuWait = 8,
  kStepSendWait = 9,
  kStepRecvWait = 10,
  kStepRecvFlushWait = 11,
  kStepRecvGpuWait = 12,
  kStepSendPeerWait = 20,
};

struct EventHead {
  std::uint64_t type;
  void* parent;
  std::int32_t rank;
};
static_assert(sizeof(EventHead) == 24);

struct CollBody {  // versions 4, 5, 6
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* recv;
  std::size_t count;
  std::int32_t root;
  const char* data_type;
  std::uint8_t channels;
};
static_assert(offsetof(CollBody, data_type) == 48 && offsetof(CollBody, channels) == 56);

struct P2pBody {  // versions 4, 5, 6
  const char* function;
  void* buffer;
  const char* data_type;
  std::size_t count;
  std::int32_t peer;
};
static_assert(offsetof(P2pBody, peer) == 32);

struct NamedComm {  // before both bodies in version 3
  const char* name;
  std::uint64_t hash;
};

struct CollApiBody {  // versions 5, 6
  const char* function;
  std::size_t count;
  const char* data_type;
  std::int32_t root;
  void* stream;
  bool captured;
};
static_assert(offsetof(CollApiBody, captured) == 40);

struct P2pApiBody {  // versions 5, 6
  const char* function;
  std::size_t count;
  const char* data_type;
  void* stream;
  bool captured;
};
static_assert(offsetof(P2pApiBody, captured) == 32);

struct KernelChannelBody {
  std::uint8_t channel;
  std::uint64_t gpu_ns;  // from version 4
};
static_assert(offsetof(KernelChannelBody, gpu_ns) == 8);

struct ProxyOpBody {  // all versions
  std::int32_t pid;  // of the process whose op it is: another one's where it lends its network card
  std::uint8_t channel;
  std::int32_t peer;
  std::int32_t steps;
  std::int32_t chunk_bytes;
  std::int32_t sends;
};
static_assert(offsetof(ProxyOpBody, channel) == 4 && offsetof(ProxyOpBody, peer) == 8 &&
              offsetof(ProxyOpBody, sends) == 20);

union StateArguments {
  std::uint64_t gpu_ns;  // of kKernelChannelStop
  struct {               // of kOp…, version 3
    std::size_t bytes;
    std::int32_t steps;
  } proxy_op;
};

using Logger = void (*)(int level, unsigned long flags, const char* file, int line,
                        const char* format, ...);

template <typename Init>
struct Profiler {
  const char* name;
  Init init;
  int (*start)(void* context, void** handle, const EventHead* event);
  int (*stop)(void* handle);
  int (*record_state)(void* handle, int state, const StateArguments* arguments);
  int (*finalize)(void* context);
};

using InitV3 = int (*)(void** context, int* events);
using InitV4 = int (*)(void** context, int* events, const char* name, std::uint64_t id, int nodes,
                       int size, int rank, Logger log);
using InitV5 = int (*)(void** context, std::uint64_t id, int* events, const char* name, int nodes,
                       int size, int rank, Logger log);

}  // namespace fathom::tracer::nccl_plugin

#endif  // FATHOM_DAEMON_TRACER_NCCL_PLUGIN_PROFILER_ABI_H_
