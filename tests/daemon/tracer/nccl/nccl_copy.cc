// One of two copies of an NCCL in a process: takes no communicator but its own (WHICH).
//
// Built into libnccl_copy_1.so and libnccl_copy_2.so, for calls_test.py.
#include <unistd.h>

struct UniqueId {
  char bytes[128];
};

namespace {
int own = WHICH;
constexpr int kSuccess = 0, kInvalidArgument = 4;
int child = WHICH;
int Look(const void* comm) {
  if (comm == &own || comm == &child) return kSuccess;
  if (write(2, "foreign ", 8) < 0) return kInvalidArgument;  // as NCCL warns of a corrupt one
  return kInvalidArgument;
}
int Tell(const void* comm, int* out, int value) {
  if (Look(comm) != kSuccess) return kInvalidArgument;
  *out = value;
  return kSuccess;
}
}  // namespace

extern "C" {
int ncclCommInitRank(void** comm, int, UniqueId, int) {
  *comm = &own;
  return kSuccess;
}
int ncclAllReduce(const void*, void*, unsigned long, int, int, void* comm, void*) {
  return Look(comm);
}
int ncclCommDestroy(void* comm) { return Look(comm); }
int ncclCommSplit(void* comm, int, int, void** made, void*) {
  *made = &child;
  return Look(comm);
}
int ncclCommCount(void* comm, int* count) { return Tell(comm, count, 1); }
int ncclCommUserRank(void* comm, int* rank) { return Tell(comm, rank, 0); }
int ncclCommCuDevice(void* comm, int* device) { return Tell(comm, device, WHICH); }
int ncclGroupStart() { return kSuccess; }
int ncclGroupEnd() { return WHICH; }  // so that it shows whose it was
}
