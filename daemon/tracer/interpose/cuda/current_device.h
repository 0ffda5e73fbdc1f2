// A GPU of this process, by its number and its PCI bus id, into a group slot.
//
// Used by interpose/nccl/device.cc, whose communicators tell the number, and by python/entry.cc for
// the GPU that is current on the calling thread.
//
// Model: the number is the process's own (CUDA_VISIBLE_DEVICES renumbers); the bus id, which the
// CUDA driver tells (cuDeviceGet, cuDeviceGetPCIBusId), is the machine's. All of it only reads. A
// driver that is not in the process is never loaded; what it lacks stays unknown, and is no drop.
// Thread-safety: thread-safe; one thread tells a slot. Preserves errno. Errors: the slot's words
// stay 0. Cost: cold; locks of the loader and of the driver.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_CURRENT_DEVICE_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_CURRENT_DEVICE_H_

#include "daemon/abi/ring_layout.h"

namespace fathom::tracer::cuda {

// Requires: number is one of this process's devices.
void TellDevice(int number, abi::GroupSlot* slot);
// Nothing happens where the thread has no context.
void TellCurrentDevice(abi::GroupSlot* slot);

}  // namespace fathom::tracer::cuda

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_CURRENT_DEVICE_H_
