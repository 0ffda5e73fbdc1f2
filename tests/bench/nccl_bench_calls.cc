// An NCCL that does nothing, and calls to it: built twice for nccl_bench.cc, once with the calls
// bound inside (bare), once through the PLT as a training program's are. And what its proxy thread
// tells a profiler plugin of one step of a transfer, where the process has one.
#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace {

// As NCCL's interface has them, version 6.
struct Event {
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    struct {
      const char* function;
      std::size_t count;
      const char* type;
      int root;
      void* stream;
      bool captured;
    } call;
    struct {
      std::uint64_t sequence;
      const char* function;
      const void* send;
      void* recv;
      std::size_t count;
      int root;
      const char* type;
      std::uint8_t channels;
    } launched;
    struct {
      int pid;
      std::uint8_t channel;
      int peer, steps, chunk, sends;
    } transfer;
    int step;
  };
};

struct Plugin {
  const char* name;
  int (*init)(void**, std::uint64_t, int*, const char*, int, int, int, void*);
  int (*start)(void*, void**, Event*);
  int (*stop)(void*);
  int (*state)(void*, int, void*);
  int (*finalize)(void*);
};

enum { kColl = 2, kProxyOp = 8, kProxyStep = 16, kCollApi = 512 };

const Plugin* plugin = nullptr;
void* context = nullptr;
void* transfer = nullptr;
bool launch = false;
int mask = 0;

void* Start(const Event& event) {
  Event copy = event;
  void* handle = nullptr;
  plugin->start(context, &handle, &copy);
  return handle;
}

void Launch() {
  launch = false;
  Event event = {};
  event.type = kCollApi;
  event.call.function = "AllReduce";
  event.parent = Start(event);
  event.type = kColl;
  event.launched = {0, "AllReduce", nullptr, nullptr, 1000, -1, "ncclFloat32", 2};
  event.parent = Start(event);
  event.type = kProxyOp;
  event.transfer = {getpid(), 0, 1, 1 << 30, 4096, 1};
  transfer = Start(event);
}

}  // namespace

extern "C" {
struct UniqueId {
  char bytes[128];
};
int ncclCommInitRank(void** comm, int, UniqueId, int) {
  static int object;
  *comm = &object;
  plugin = static_cast<const Plugin*>(dlsym(RTLD_DEFAULT, "ncclProfiler_v6"));
  if (plugin != nullptr) plugin->init(&context, 1, &mask, "", 8, 8, 0, nullptr);
  return 0;
}
int ncclAllReduce(const void*, void*, std::size_t, int, int, void*, void*) {
  if (launch) Launch();
  return 0;
}
int ncclSend(const void*, std::size_t, int, int, void*, void*) { return 0; }
int ncclGroupStart() { return 0; }
int ncclGroupEnd() { return 0; }

void* BenchMake() {
  void* comm = nullptr;
  ncclCommInitRank(&comm, 8, UniqueId{{1, 2, 3}}, 0);
  return comm;
}
void BenchAllReduce(void* comm) { ncclAllReduce(nullptr, nullptr, 1000, 7, 0, comm, comm); }
void BenchSend(void* comm) { ncclSend(nullptr, 1000, 7, 1, comm, comm); }
void BenchGroup(void*) {
  ncclGroupStart();
  ncclGroupEnd();
}
// Room for the GPU, credit, taken by the network, confirmed.
void BenchStep(void* comm) {
  if (plugin == nullptr) return;
  if (transfer == nullptr) {
    launch = true;
    BenchAllReduce(comm);
  }
  Event event = {};
  event.type = kProxyStep;
  event.parent = transfer;
  void* step = Start(event);
  if (step == nullptr) return;
  std::uint64_t arguments = 0;
  for (const int state : {8, 20, 9}) plugin->state(step, state, &arguments);
  plugin->stop(step);
}
}
