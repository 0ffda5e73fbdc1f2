#include "collector/export/comparison_proto.h"

#include <string>

#include "diagnosis/tables/comparison_verdict.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

void Put(const diagnosis::PartChange& from, v1::Change& out) {
  out.set_name(from.what);
  out.set_kind(from.kind);
  out.set_before_s(from.before);
  out.set_after_s(from.after);
}

}  // namespace

void ToProto(const diagnosis::Comparison& from, v1::Comparison& out) {
  out.set_result(std::string(ToString(from.outcome)));
  out.set_sentence(SentenceOf(from));
  out.set_before_s(from.before);
  out.set_after_s(from.after);
  out.set_chance(from.chance);
  for (const auto& kind : from.kinds) Put(kind, *out.add_kinds());
  for (const auto& part : from.parts) Put(part, *out.add_parts());
}

}  // namespace fathom::collector
