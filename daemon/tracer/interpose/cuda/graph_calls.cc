#include "daemon/tracer/interpose/cuda/graph_calls.h"

#include "daemon/tracer/core/graph_ops.h"
#include "daemon/tracer/core/tracer_state.h"
#include "daemon/tracer/interpose/cuda/stream_capture.h"

namespace fathom::tracer {
namespace {

TracerState* StateForGraphs() {
  TracerState* state = AllowedState(abi::kSourceCuda, AfterFork::kIgnore);
  return state != nullptr && (state->sources & abi::kSourceNccl) != 0 ? state : nullptr;
}

// The handle that a call left where its argument points to.
std::uint64_t Made(std::uint64_t where) {
  return where == 0 ? 0 : *reinterpret_cast<const std::uint64_t*>(where);
}

}  // namespace

std::uint64_t BeforeGraphCall(DeviceCall call, GraphWords words) {
  TracerState* state = StateForGraphs();
  if (state == nullptr) return 0;
  switch (call) {
    case DeviceCall::kGraphLaunch:
      LaunchGraph(*state, words.first);
      return 0;
    case DeviceCall::kEndCapture:
      return CaptureOfStream(words.first);
    // A handle may be another's as soon as the call has returned.
    case DeviceCall::kDestroy:
      ForgetExecutable(*state, words.first);
      return 0;
    case DeviceCall::kDestroyGraph:
      ForgetGraph(*state, words.first);
      return 0;
    default:
      return 0;
  }
}

void AfterGraphCall(DeviceCall call, GraphWords words, std::uint64_t before, int result) {
  TracerState* state = StateForGraphs();
  if (state == nullptr) return;
  switch (call) {
    case DeviceCall::kBeginCapture:
      if (result == 0) NoteCaptureBegan();
      break;
    case DeviceCall::kEndCapture:
      if (before != 0) EndCapture(*state, before, result == 0 ? Made(words.second) : 0);
      NoteCaptureEnded();
      break;
    case DeviceCall::kInstantiate:
      if (result == 0) InstantiateGraph(*state, Made(words.first), words.second);
      break;
    case DeviceCall::kUpdateGraph:
      if (result == 0) InstantiateGraph(*state, words.first, words.second);
      break;
    case DeviceCall::kGraphLaunch:
      if (result != 0) NoteLaunchFailed(*state, words.first);
      break;
    default:
      break;
  }
}

}  // namespace fathom::tracer
