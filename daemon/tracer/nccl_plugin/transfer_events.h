// NCCL's events of its proxy threads, ProxyOp and ProxyStep, made into transfers (transfers.h).
//
// Used by plugin.cc. Which transfers are told: those of ops of this process that are known. Where a
// process lends its network card to another one (PXN) the event comes there; its context and parent
// are then the other process's and mean nothing here, so only the descriptor is looked at.
//
// Thread-safety: thread-safe, as transfers.h. Errors: what is not told has no handle, and NCCL
// is silent on it from then on. Cost: hot path, on NCCL's proxy thread.
#ifndef FATHOM_DAEMON_TRACER_NCCL_PLUGIN_TRANSFER_EVENTS_H_
#define FATHOM_DAEMON_TRACER_NCCL_PLUGIN_TRANSFER_EVENTS_H_

#include "daemon/tracer/nccl_plugin/profiler_abi.h"
#include "daemon/tracer/nccl_plugin/tasks.h"

namespace fathom::tracer::nccl_plugin {

inline bool IsOfTransfer(Handle handle) {
  return handle.tag() == HandleTag::kStep || handle.tag() == HandleTag::kTransfer;
}

// `body`: a ProxyOpBody, behind the head.
Handle StartTransferOf(const EventHead* event, const void* body);
inline Handle StartStepOf(const EventHead* event) {
  const Handle transfer = Handle::From(event->parent);
  return transfer.tag() == HandleTag::kTransfer ? transfer.Step() : Handle{};
}

// Requires of both: IsOfTransfer(handle).
void StopOfTransfer(Handle handle);
void RecordOfTransfer(Handle handle, int what, const StateArguments* arguments);

}  // namespace fathom::tracer::nccl_plugin

#endif  // FATHOM_DAEMON_TRACER_NCCL_PLUGIN_TRANSFER_EVENTS_H_
