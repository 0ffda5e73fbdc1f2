#include "collector/import/kineto/trace/trace_patterns.h"

#include <map>
#include <string>
#include <utility>

#include "collector/import/kineto/trace/names.h"

namespace fathom::collector::kineto {
namespace {

using diagnosis::Execution;
using diagnosis::FunctionClass;
using diagnosis::NamedPattern;

// Executions, and who their functions are.
class Gathered {
 public:
  Execution& Add(FunctionClass of, const NamedPattern& who, std::int64_t begin, std::int64_t end) {
    const auto [at, fresh] = numbers_.try_emplace(std::pair(of, who.function + '\n' + who.file),
                                                  static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(who);
    return executions_.emplace_back(Execution{at->second, of, begin, end, {}});
  }

  std::vector<NamedPattern> Patterns(std::int64_t begin, std::int64_t end) const {
    std::vector<NamedPattern> out;
    for (const auto& pattern : diagnosis::PatternsOf(executions_, begin, end)) {
      out.push_back(names_[pattern.function]);
      out.back().pattern = pattern;
    }
    return out;
  }

 private:
  std::vector<Execution> executions_;
  std::vector<NamedPattern> names_;
  std::map<std::pair<FunctionClass, std::string>, std::uint32_t> numbers_;
};

void AddCalls(const CallLog& calls, std::int64_t thread, Gathered& out) {
  for (const CallLog::Call& call : calls.CallsOf(thread)) {
    const diagnosis::CapturedFrame& frame = calls.frames()[call.name];
    const NamedPattern who{frame.function, frame.file, frame.line, {}};
    out.Add(FunctionClass::kHost, who, call.begin, call.end);
  }
}

void AddDevice(const diagnosis::RankWork& work, Gathered& out) {
  for (const diagnosis::DeviceWork& each : work.device) {
    if (each.kind == diagnosis::WorkKind::kCommunication) continue;
    const bool copy = each.kind == diagnosis::WorkKind::kCopy;
    const NamedPattern who{work.names[each.name], "", 0, {}};
    out.Add(copy ? FunctionClass::kMemory : FunctionClass::kCompute, who, each.begin, each.end);
  }
}

void AddCommunication(const std::vector<CommEvent>& comms, Gathered& out) {
  for (const CommEvent& comm : comms) {
    if (comm.part == CommPart::kCall || comm.end <= comm.begin) continue;
    const NamedPattern who{std::string(CollectiveKindName(comm.kind)), comm.group, 0, {}};
    Execution& run = out.Add(FunctionClass::kCollective, who, comm.begin, comm.end);
    const double bytes = static_cast<double>(comm.elements) * BytesOf(comm.data_type);
    if (comm.elements > 0 && bytes > 0) {
      run.utilisation = {static_cast<float>(bytes / static_cast<double>(comm.end - comm.begin))};
    }
  }
}

}  // namespace

std::vector<NamedPattern> PatternsOfTrace(const RankTrace& trace, const CallLog& calls,
                                          std::int64_t thread, std::int64_t begin,
                                          std::int64_t end) {
  Gathered gathered;
  AddCalls(calls, thread, gathered);
  AddDevice(trace.work, gathered);
  AddCommunication(trace.comms, gathered);
  return gathered.Patterns(begin, end);
}

}  // namespace fathom::collector::kineto
