#include "collector/export/step_proto.h"

#include <string>

#include "diagnosis/tables/step_words.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {

void ToProto(const diagnosis::StepBound& from, v1::Step& out) {
  out.set_missing(from.missing);
  if (!from.known()) return;
  out.set_seconds(from.step_s);
  out.set_iterations(from.iterations);
  out.set_ranks(static_cast<std::uint32_t>(from.ranks));
  out.set_clock(std::string(ToString(from.clock)));
  for (const diagnosis::StepPart part : from.Bounds()) out.add_bound(std::string(ToString(part)));
  for (const auto& each : from.parts) {
    v1::Step::Part& part = *out.add_parts();
    part.set_name(std::string(ToString(each.part)));
    part.set_seconds(each.seconds);
    part.set_share(from.share(each.part));
  }
  out.set_sentence(diagnosis::InWords(from));
  out.set_advice(diagnosis::AdviceOn(from));
}

}  // namespace fathom::collector
