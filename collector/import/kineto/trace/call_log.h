// The calls of a trace's threads, turned into the stacks of its training thread.
//
// Fed by RankTraceBuilder, whose RankTrace holds the result; functions of the recorded job are
// compared by it (collector/import/recorded_functions).
//
// Model: what torch.profiler writes of Python (`with_stack=True`) and of ops lies nested on each
// thread, so each moment of it has a stack. A stack has the time in which nothing further in ran,
// in units of kSample; together they are what a capture of a live job samples. Without functions
// of Python ops alone tell. Calls shorter than kShortest are their callers' time. Ops that
// communicate stay on the stack: what waits in them is nobody's function.
//
// Units: ns since the trace's base. Thread-safety: belongs to one thread. Errors: calls that are
// not nested are cut to the one that they begin in; more than kMost are left out and told.
// Cost: 24 bytes a call until Take, which sorts them once.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_CALL_LOG_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_CALL_LOG_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/import/kineto/trace/trace_event.h"
#include "diagnosis/model/stack_capture.h"

namespace fathom::collector::kineto {

class CallLog {
 public:
  struct Call {
    std::int64_t begin = 0, end = 0;
    std::uint32_t name = 0;  // place in frames()
  };
  static constexpr std::int64_t kShortest = 20'000;
  static constexpr std::int64_t kSample = 100'000;
  static constexpr std::size_t kMost = 8'000'000;

  void AddFunction(const TraceEvent& event);
  void AddOp(const TraceEvent& event);

  // Of `thread` from `begin` to `end`; what was kept of all is let go.
  diagnosis::RankStacks Take(std::int64_t thread, std::int64_t begin, std::int64_t end);

  // Until Take.
  const std::vector<Call>& CallsOf(std::int64_t thread) const;
  const std::vector<diagnosis::CapturedFrame>& frames() const { return frames_; }

 private:
  void Add(const TraceEvent& event, bool function);

  std::unordered_map<std::string, std::uint32_t> names_;
  std::vector<diagnosis::CapturedFrame> frames_;  // by number of the name
  std::map<std::int64_t, std::vector<Call>> threads_;
  std::size_t calls_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t raw_bytes_ = 0;  // of the calls as the file tells them, about
  bool functions_ = false;       // of Python, there are some
};

// "train.py(85): write_metrics", and whether it is nobody's own code. Ops have neither file nor
// line, nor have built-in functions.
diagnosis::CapturedFrame FrameOfName(std::string_view name);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_CALL_LOG_H_
