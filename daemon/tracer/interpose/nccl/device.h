// The GPU of a communicator: its number and its PCI bus id, into the communicator's group slot.
//
// Used by communicators.cc, where a communicator is made or found ready.
//
// Model: NCCL tells the number (ncclCommCuDevice), the CUDA driver the bus id of that number
// (cuDeviceGet, cuDeviceGetPCIBusId). The number is the process's own (CUDA_VISIBLE_DEVICES
// renumbers); the bus id is the machine's. Asked is the copy of NCCL that made the communicator.
// All of these only read: no stream, no context, no capture is touched. A library that is not in
// the process is never loaded; what a library lacks stays unknown, and is no drop.
// Thread-safety: thread-safe; callers serialise the calls on one communicator. Preserves errno.
// Errors: the slot's words stay 0. Cost: cold; locks of the loader and of the driver.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_DEVICE_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_DEVICE_H_

#include "daemon/abi/ring_layout.h"
#include "daemon/tracer/interpose/nccl/abi.h"

namespace fathom::tracer::nccl {

// False: NCCL does not tell, or not yet. `library`: a function of the copy that made `comm`, or
// null where that is not known. Requires: `slot` is that of `comm`.
bool TellDevice(Comm comm, void* library, abi::GroupSlot* slot);

}  // namespace fathom::tracer::nccl

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_DEVICE_H_
