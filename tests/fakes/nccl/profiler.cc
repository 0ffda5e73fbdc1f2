#include "tests/fakes/nccl/profiler.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <string>

namespace fakes::nccl {
namespace {

// The interface as a plugin author reads it. `Body` of version 3 begins with name and hash.
struct Event {
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    struct {
      std::uint64_t sequence;
      const char* function;
      const void* send;
      void* recv;
      std::size_t count;
      int root;
      const char* type;
      std::uint8_t channels, warps;
      const char *algorithm, *protocol;
      void* group;
    } coll;
    struct {
      const char* name;
      std::uint64_t hash, sequence;
      const char* function;
      const void* send;
      void* recv;
      std::size_t count;
      int root;
      const char* type;
      std::uint8_t channels, warps;
    } coll3;
    struct {
      const char* function;
      void* buffer;
      const char* type;
      std::size_t count;
      int peer;
      std::uint8_t channels;
    } p2p;
    struct {
      const char* name;
      std::uint64_t hash;
      const char* function;
      void* buffer;
      const char* type;
      std::size_t count;
      int peer;
    } p2p3;
    struct {
      const char* function;
      std::size_t count;
      const char* type;
      int root;
      void* stream;
      bool captured;
    } coll_api;
    struct {
      const char* function;
      std::size_t count;
      const char* type;
      void* stream;
      bool captured;
    } p2p_api;
    struct {
      std::uint8_t channel;
      std::uint64_t gpu_ns;
    } kernel;
    struct {
      int pid;
      std::uint8_t channel;
      int peer, steps, chunk, sends;
    } proxy_op;
    struct {
      int step;
    } proxy_step;
  };
};

struct Table {
  const char* name;
  void* init;
  int (*start)(void*, void**, Event*);
  int (*stop)(void*);
  int (*state)(void*, int, void*);
  int (*finalize)(void*);
};

enum {
  kColl = 2,
  kP2p = 4,
  kProxyOp = 8,
  kProxyStep = 16,
  kKernelChannel = 64,
  kCollApi = 512,
  kP2pApi = 1024
};
constexpr int kKernelChannelStop = 22;

// NCCL's own parameter, whose type plugins know.
void Log(int, unsigned long, const char*, int, const char*, ...) {}

const Table* TableOf(void* table) { return static_cast<const Table*>(table); }

bool InBytes(const char* function) {
  return strcmp(function, "AllGather") == 0 || strcmp(function, "Broadcast") == 0;
}

}  // namespace

Profiler& Profiler::Get() {
  static Profiler* profiler = new Profiler();  // outlives the threads of streams
  return *profiler;
}

Profiler::Profiler() {
  const char* wanted = getenv("NCCL_PROFILER_PLUGIN");
  if (wanted == nullptr || strcasecmp(wanted, "STATIC_PLUGIN") != 0) return;
  const char* newest = getenv("FAKE_NCCL_PROFILER_VERSION");
  void* program = dlopen(nullptr, RTLD_NOW);
  for (int v = newest == nullptr ? 6 : atoi(newest); v >= 3 && table_ == nullptr; --v) {
    table_ = dlsym(program, ("ncclProfiler_v" + std::to_string(v)).c_str());
    version_ = v;
  }
}

void* Profiler::InitContext(std::uint64_t id, int ranks, int rank) {
  if (table_ == nullptr) return nullptr;
  void* context = nullptr;
  void* init = TableOf(table_)->init;
  if (version_ == 3) {
    reinterpret_cast<int (*)(void**, int*)>(init)(&context, &mask_);
  } else if (version_ == 4) {
    reinterpret_cast<int (*)(void**, int*, const char*, std::uint64_t, int, int, int, void*)>(init)(
        &context, &mask_, "", id, 1, ranks, rank, reinterpret_cast<void*>(&Log));
  } else {
    reinterpret_cast<int (*)(void**, std::uint64_t, int*, const char*, int, int, int, void*)>(init)(
        &context, id, &mask_, "", 1, ranks, rank, reinterpret_cast<void*>(&Log));
  }
  return context;
}

void Profiler::FinalizeContext(void* context) {
  if (context != nullptr) TableOf(table_)->finalize(context);
}

void* Profiler::StartCall(void* context, int rank, const Described& op) {
  const int mask = __atomic_load_n(&mask_, __ATOMIC_RELAXED);
  if (table_ == nullptr || version_ < 5 || (mask & (kColl | kP2p | kKernelChannel)) == 0) {
    return nullptr;
  }
  Event event = {};
  event.type = op.point_to_point ? kP2pApi : kCollApi;
  event.rank = rank;
  if (op.point_to_point) {
    event.p2p_api = {op.function, op.count, op.type, op.stream, op.captured};
  } else {
    event.coll_api = {op.function, op.count, op.type, op.peer, op.stream, op.captured};
  }
  void* handle = nullptr;
  TableOf(table_)->start(context, &handle, &event);
  return handle;
}

void Profiler::StopCall(void* handle) {
  if (handle != nullptr) TableOf(table_)->stop(handle);
}

void* Profiler::Launch(void* context, int rank, const Described& op, void* call) {
  const int mask = __atomic_load_n(&mask_, __ATOMIC_RELAXED);
  if (table_ == nullptr || (mask & (kColl | kP2p | kKernelChannel)) == 0) return nullptr;
  const bool bytes = InBytes(op.function);
  const std::size_t count = bytes ? op.count * op.element_bytes : op.count;
  const char* type = bytes ? "ncclInt8" : op.type;
  Event event = {};
  event.type = op.point_to_point ? kP2p : kColl;
  if (version_ < 5) event.type |= 0xabcdef00;  // one byte counts; the rest is padding
  event.parent = call;
  event.rank = rank;
  if (version_ == 3 && op.point_to_point) {
    event.p2p3 = {"", 1, op.function, nullptr, type, count, op.peer};
  } else if (version_ == 3) {
    event.coll3 = {"", 1, op.sequence, op.function, nullptr, nullptr, count, op.peer, type, 16, 8};
  } else if (op.point_to_point) {
    event.p2p = {op.function, nullptr, type, count, op.peer, kChannels + 2};
  } else {
    event.coll = {op.sequence, op.function, nullptr, nullptr, count,    op.peer,
                  type,        kChannels,   8,       "RING",  "SIMPLE", nullptr};
  }
  void* handle = nullptr;
  TableOf(table_)->start(context, &handle, &event);
  if (handle != nullptr) TableOf(table_)->stop(handle);
  return handle;
}

void* Profiler::StartChannel(void* context, int rank, void* task, int channel,
                             std::uint64_t gpu_ns) {
  if (task == nullptr) return nullptr;
  Event event = {};
  event.type = kKernelChannel;
  event.parent = task;
  event.rank = rank;
  event.kernel.channel = static_cast<std::uint8_t>(channel);
  if (version_ >= 4) event.kernel.gpu_ns = gpu_ns;
  void* handle = nullptr;
  TableOf(table_)->start(context, &handle, &event);
  return handle;
}

void Profiler::StopChannel(void* handle, std::uint64_t gpu_ns) {
  if (handle == nullptr) return;
  if (version_ >= 4) TableOf(table_)->state(handle, kKernelChannelStop, &gpu_ns);
  TableOf(table_)->stop(handle);
}

// A mask that is taken back does not end what is going on, but brings nothing new.
void* Profiler::StartTransfer(void* context, int rank, void* task, const Moved& what) {
  const int mask = __atomic_load_n(&mask_, __ATOMIC_RELAXED);
  if (table_ == nullptr || (mask & (kProxyOp | kProxyStep)) == 0) return nullptr;
  Event event = {};
  event.type = kProxyOp;
  if (version_ < 5) event.type |= 0xabcdef00;
  event.parent = task;
  event.rank = rank;
  event.proxy_op = {what.pid,  static_cast<std::uint8_t>(what.channel), what.peer, what.steps, 4096,
                    what.sends};
  void* handle = nullptr;
  TableOf(table_)->start(context, &handle, &event);
  return handle;
}

void Profiler::NoteSteps(void* transfer, int state, int steps) {
  if (transfer == nullptr) return;
  struct {
    std::size_t bytes;
    int steps;
  } arguments = {0, steps};
  TableOf(table_)->state(transfer, state, &arguments);
}

void* Profiler::StartStep(void* context, int rank, void* transfer, int step) {
  const int mask = __atomic_load_n(&mask_, __ATOMIC_RELAXED);
  if (table_ == nullptr || (mask & kProxyStep) == 0) return nullptr;
  Event event = {};
  event.type = kProxyStep;
  if (version_ < 5) event.type |= 0xabcdef00;
  event.parent = transfer;  // null where nobody wanted the transfer
  event.rank = rank;
  event.proxy_step.step = step;
  void* handle = nullptr;
  TableOf(table_)->start(context, &handle, &event);
  return handle;
}

void Profiler::NoteStep(void* step, int state) {
  std::uint64_t arguments = 0;
  if (step != nullptr) TableOf(table_)->state(step, state, &arguments);
}

void Profiler::Stop(void* handle) {
  if (handle != nullptr) TableOf(table_)->stop(handle);
}

}  // namespace fakes::nccl
