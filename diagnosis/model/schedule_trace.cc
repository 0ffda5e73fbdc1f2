#include "diagnosis/model/schedule_trace.h"

namespace fathom::diagnosis {

std::string_view ToString(OpKind kind) {
  static constexpr std::string_view kNames[kOpKinds] = {"forward-compute",
                                                        "backward-compute",
                                                        "forward-send",
                                                        "forward-recv",
                                                        "backward-send",
                                                        "backward-recv",
                                                        "params-all-gather",
                                                        "grads-reduce-scatter",
                                                        "separate-grads-all-reduce",
                                                        "layernorm-grads-all-reduce",
                                                        "embedding-grads-all-reduce",
                                                        "optimizer-clip-main-grad",
                                                        "optimizer",
                                                        "gc"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view ReportedKind(OpKind kind) {
  if (kind == OpKind::kForwardSend || kind == OpKind::kForwardRecv) return "forward-pp-comm";
  if (kind == OpKind::kBackwardSend || kind == OpKind::kBackwardRecv) return "backward-pp-comm";
  return ToString(kind);
}

}  // namespace fathom::diagnosis
