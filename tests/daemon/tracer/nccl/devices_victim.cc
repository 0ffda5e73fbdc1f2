// A program that drives several devices from one process, on the stand-in for NCCL.
//
//   devices_victim all|group|pending [LIBCUDA]
//
// `all`: ncclCommInitAll of the devices 2 and 0. `group`: a communicator of devices 1 and 3, its
// ranks made inside ncclGroupStart and ncclGroupEnd. `pending`: the same, with
// FAKE_NCCL_NONBLOCKING, asked for its error until it is ready, some time after its address is
// known. LIBCUDA is loaded first where it is given. It ends by _exit, so that its ring stays.
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "tests/fakes/nccl/fake_nccl.h"

namespace {

int InGroup(ncclComm_t (&comms)[2], bool pending) {
  ncclUniqueId id = {};
  int result = ncclGetUniqueId(&id) | ncclGroupStart();
  for (int i = 0; i < 2; ++i) {
    FakeSetDevice(1 + 2 * i);
    result |= ncclCommInitRank(&comms[i], 2, id, i);
  }
  const int ended = ncclGroupEnd();
  if (!pending) return result | ended;
  if (ended != ncclInProgress) return 1;
  for (ncclComm_t comm : comms) {
    ncclResult_t error = ncclInProgress;
    result |= ncclCommGetAsyncError(comm, &error) | error;
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (argc > 2 && dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) == nullptr) return 3;
  constexpr int kDevices[] = {2, 0};
  ncclComm_t comms[2] = {};
  const bool all = strcmp(argv[1], "all") == 0;
  const int result = all ? static_cast<int>(ncclCommInitAll(comms, 2, kDevices))
                         : InGroup(comms, strcmp(argv[1], "pending") == 0);
  _exit(result == 0 ? 0 : 4);
}
