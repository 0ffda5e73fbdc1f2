#include "tests/fakes/cuda/graphs.h"

#include <map>
#include <mutex>

namespace fake_cuda {
namespace {

struct Capture {
  std::uint64_t id;
  Graph* graph;
};

std::mutex mutex;
std::uint64_t last_id = 0;

std::map<void*, Capture>& Captures() {
  static auto* captures = new std::map<void*, Capture>();  // outlives threads of streams
  return *captures;
}

}  // namespace

void BeginCapture(void* stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  Captures()[stream] = {++last_id, new Graph};
}

Graph* EndCapture(void* stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = Captures().find(stream);
  if (found == Captures().end()) return nullptr;
  Graph* graph = found->second.graph;
  Captures().erase(found);
  return graph;
}

std::uint64_t CaptureId(void* stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = Captures().find(stream);
  return found == Captures().end() ? 0 : found->second.id;
}

Graph* CaptureOf(void* stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = Captures().find(stream);
  return found == Captures().end() ? nullptr : found->second.graph;
}

}  // namespace fake_cuda

__attribute__((visibility("default"))) bool fake_cuda_capture(void* stream,
                                                              void (*run)(void* user, void* stream),
                                                              void* user) {
  fake_cuda::Graph* graph = fake_cuda::CaptureOf(stream);
  if (graph != nullptr && run != nullptr) graph->nodes.push_back({run, user});
  return graph != nullptr;
}
