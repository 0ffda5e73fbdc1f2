#include "daemon/tracer/python/function_timer.h"

#include <atomic>

#include "daemon/tracer/core/marks.h"
#include "daemon/tracer/core/thread_state.h"

namespace fathom::tracer::python {
namespace {

struct Open {
  std::int64_t since_ns;  // 0: not in it
  std::uint32_t depth;
};

constinit thread_local Open open_calls[abi::kFunctionNames] = {};
constinit std::atomic<std::int64_t> sums[abi::kFunctionNames] = {};

[[gnu::cold, gnu::noinline]] void Tell(std::uint32_t function, std::int64_t now_ns) {
  const std::int64_t took_ns = sums[function].exchange(0, std::memory_order_relaxed);
  SpanMark(abi::kSourcePython, abi::MarkKind::kFunctionBegin, now_ns - took_ns, function,
           abi::MarkKind::kFunctionEnd, function);
}

// A sum that two threads without a common lock add to may lose one call: it is time, not a count.
void Add(std::uint32_t function, std::int64_t since_ns) {
  const std::int64_t now_ns = NowNs();
  const std::int64_t sum = sums[function].load(std::memory_order_relaxed) + now_ns - since_ns;
  sums[function].store(sum, std::memory_order_relaxed);
  if (sum >= kShortNs) [[unlikely]]
    Tell(function, now_ns);
}

}  // namespace

void Enter(std::uint32_t function) {
  Open& open = open_calls[function];
  if (open.depth++ == 0) open.since_ns = NowNs();
}

void Leave(std::uint32_t function) {
  Open& open = open_calls[function];
  if (--open.depth != 0) return;
  Add(function, open.since_ns);
}

void Restart(std::uint32_t function) { open_calls[function].since_ns = NowNs(); }

void Finish(std::uint32_t function) {
  Open& open = open_calls[function];
  if (open.since_ns == 0) return;
  Add(function, open.since_ns);
  open.since_ns = 0;
}

}  // namespace fathom::tracer::python
