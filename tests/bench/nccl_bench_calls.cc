// An NCCL that does nothing, and calls to it: built twice for nccl_bench.cc, once with the calls
// bound inside (bare), once through the PLT as a training program's are.
#include <cstddef>

extern "C" {
struct UniqueId {
  char bytes[128];
};
int ncclCommInitRank(void** comm, int, UniqueId, int) {
  static int object;
  *comm = &object;
  return 0;
}
int ncclAllReduce(const void*, void*, std::size_t, int, int, void*, void*) { return 0; }
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
}
