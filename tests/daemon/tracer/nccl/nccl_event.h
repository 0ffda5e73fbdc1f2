// What NCCL hands to a profiler plugin, as NCCL writes it: the descriptor of an event and the table
// of a plugin, versions 3 to 6.
//
// Used by profiler_side.cc, which plays NCCL; real_profiler_abi.cc compares it with NCCL's own
// headers. Declared apart from daemon/tracer/nccl_plugin/profiler_abi.h, so that an error in either
// shows.
// Thread-safety: types. Source: NCCL's public plugin headers.
#ifndef FATHOM_TESTS_DAEMON_TRACER_NCCL_NCCL_EVENT_H_
#define FATHOM_TESTS_DAEMON_TRACER_NCCL_NCCL_EVENT_H_

#include <cstddef>
#include <cstdint>

namespace fathom::nccl_side {

struct Coll {
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* recv;
  std::size_t count;
  int root;
  const char* type;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
  void* group;  // from version 5 on
};

struct P2p {
  const char* function;
  void* buffer;
  const char* type;
  std::size_t count;
  int peer;
  std::uint8_t channels;
  void* group;  // from version 5 on
};

// Version 3.
struct Coll3 {
  const char* name;
  std::uint64_t hash;
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* recv;
  std::size_t count;
  int root;
  const char* type;
  std::uint8_t channels, warps;  // the most it may use
  const char *algorithm, *protocol;
};

struct P2p3 {
  const char* name;
  std::uint64_t hash;
  const char* function;
  void* buffer;
  const char* type;
  std::size_t count;
  int peer;
};

struct CollApi {
  const char* function;
  std::size_t count;
  const char* type;
  int root;
  void* stream;
  bool captured;
};

struct P2pApi {
  const char* function;
  std::size_t count;
  const char* type;
  void* stream;
  bool captured;
};

struct KernelChannel {
  std::uint8_t channel;
  std::uint64_t gpu_ns;  // from version 4 on
};

struct ProxyOp {
  int pid;
  std::uint8_t channel;
  int peer, steps, chunk, sends;
};

struct ProxyStep {
  int step;
};

struct Event {
  std::uint64_t type;  // in versions 3 and 4 one byte and seven of padding
  void* parent;
  int rank;
  union {
    Coll coll;
    Coll3 coll3;
    P2p p2p;
    P2p3 p2p3;
    CollApi coll_api;
    P2pApi p2p_api;
    KernelChannel kernel;
    ProxyOp proxy_op;
    ProxyStep proxy_step;
    unsigned char raw[128];
  };
};

enum EventType : std::uint64_t {
  kGroup = 1,
  kColl = 2,
  kP2p = 4,
  kProxyOp = 8,
  kProxyStep = 16,
  kProxyCtrl = 32,
  kKernelChannel = 64,
  kNetPlugin = 128,
  kGroupApi = 256,
  kCollApi = 512,
  kP2pApi = 1024,
  kKernelLaunch = 2048,
  kCeColl = 4096,
  kCeSync = 8192,
  kCeBatch = 16384,
};
inline constexpr int kKernelChannelStop = 22;

struct Table {
  const char* name;
  void* init;  // by version
  int (*start)(void* context, void** handle, Event* event);
  int (*stop)(void* handle);
  int (*state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

}  // namespace fathom::nccl_side

#endif  // FATHOM_TESTS_DAEMON_TRACER_NCCL_NCCL_EVENT_H_
