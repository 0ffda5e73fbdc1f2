// A library that is linked with one copy of an NCCL (nccl_copy.cc), for calls_test.py.
struct UniqueId {
  char bytes[128];
};

extern "C" {
int ncclCommInitRank(void** comm, int size, UniqueId id, int rank);
int ncclAllReduce(const void*, void*, unsigned long, int, int, void* comm, void* stream);
int ncclCommDestroy(void* comm);
int ncclCommSplit(void* comm, int color, int key, void** made, void* config);
int ncclGroupStart();
int ncclGroupEnd();

static void* comm = nullptr;
int make() { return ncclCommInitRank(&comm, 1, UniqueId{}, 0); }
int op() { return ncclAllReduce(nullptr, nullptr, 1, 7, 0, comm, nullptr); }
int group() { return ncclGroupStart() + ncclGroupEnd(); }
int split() {
  void* made = nullptr;
  return ncclCommSplit(comm, 0, 0, &made, nullptr) + ncclCommDestroy(made);
}
int end() { return ncclCommDestroy(comm); }
}
