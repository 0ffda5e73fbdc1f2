// The products of matrices that a process told, until its iterations have closed.
//
// Filled by op_joiner, read by iteration_summary: how many floating-point operations an iteration
// took, and when a thread computed them.
//
// Model: operations belong to the iteration in which they were told, from the entry of one anchor
// to that of the next, as CUDA calls do; a stretch belongs to whatever time it covers. Of a process
// that puts products on a GPU only those count: what its CPU multiplies is no work of its device.
//
// Units: FLOP; CLOCK_MONOTONIC ns. Thread-safety: single-threaded, owned by the poll loop. Errors:
// none; beyond kMost stretches the oldest are forgotten. Cost: O(1) a record, O(records of the
// iteration) a question; 64 bytes a record.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_PRODUCTS_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_PRODUCTS_H_

#include <cstdint>
#include <deque>

#include "daemon/abi/event_record.h"
#include "proto/types/flop_class.h"

namespace fathom::agent {

// In which one thread of the CPU computed products; busy is the time inside of them.
struct ProductStretch {
  std::int64_t told_ns = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t busy_ns = 0;  // 0: on a GPU, where it is not known
  double flop = 0;
  std::uint32_t thread_id = 0;
  FlopClass flop_class = FlopClass::kFp32;
  bool on_device = false;
};

class ProductLog {
 public:
  static constexpr std::size_t kMost = 16'384;

  // Requires: record is a valid kProducts.
  void Take(const abi::EventRecord& record);
  void ForgetBefore(std::int64_t time_ns);

  // Told after `after_ns` and not after `upto_ns`.
  FlopByClass Flop(std::int64_t after_ns, std::int64_t upto_ns) const;
  // In the order in which they were told.
  const std::deque<ProductStretch>& stretches() const { return stretches_; }
  bool on_device() const { return on_device_; }

 private:
  std::deque<ProductStretch> stretches_;
  bool on_device_ = false;  // a product was put on a GPU
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_PRODUCTS_H_
