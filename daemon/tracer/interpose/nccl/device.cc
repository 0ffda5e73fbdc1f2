#include "daemon/tracer/interpose/nccl/device.h"

#include <errno.h>

#include "daemon/tracer/interpose/cuda/current_device.h"
#include "daemon/tracer/interpose/real_symbol.h"

namespace fathom::tracer::nccl {
namespace {

using CommDevice = int (*)(Comm comm, int* device);

}  // namespace

bool TellDevice(Comm comm, void* library, abi::GroupSlot* slot) {
  const int saved = errno;
  const auto ask = reinterpret_cast<CommDevice>(
      FindForCaller("ncclCommCuDevice", library, FirstScope::kCallers));
  int number = -1;
  const bool told = ask != nullptr && ask(comm, &number) == kSuccess && number >= 0;
  if (told) cuda::TellDevice(number, slot);
  errno = saved;
  return told;
}

}  // namespace fathom::tracer::nccl
