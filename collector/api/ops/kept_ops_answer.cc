#include "collector/api/ops/kept_ops_answer.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace fathom::collector {
namespace {

using Json = nlohmann::ordered_json;

constexpr Nanos kBegun{2'000'000'000};   // a segment may begin so much after the stretch in it
constexpr Nanos kPause{60'000'000'000};  // between two stretches that are told as one

// Of a collector that answers, since when it has anything; 0: it has nothing.
using Since = std::map<std::string, WallNs>;

void Cut(const OpsStretch& stretch, KeptOps& kept) {
  if (stretch.from.known()) kept.from = std::max(kept.from, stretch.from);
  if (stretch.to.known()) kept.to = std::min(kept.to, stretch.to);
}

// What is not there of what was told; its `to` is before its `from` where all of it is.
KeptOps Lacking(KeptOps kept, const Since& since) {
  const auto there = since.find(kept.collector);
  if (there == since.end() || !there->second.known()) return kept;
  if (there->second <= kept.from + kBegun) {
    kept.to = kept.from - Nanos(1);
  } else {
    kept.to = std::min(kept.to, there->second);
  }
  return kept;
}

std::vector<KeptOps> Lacks(const std::vector<KeptOps>& told, const Since& since,
                           const OpsStretch& stretch) {
  std::vector<KeptOps> lacks;
  for (const KeptOps& each : told) {
    KeptOps lack = Lacking(each, since);
    Cut(stretch, lack);
    if (lack.to < lack.from) continue;
    const bool goes_on = !lacks.empty() && lacks.back().collector == lack.collector &&
                         lacks.back().ranks == lack.ranks && lack.from - lacks.back().to < kPause;
    if (goes_on) {
      lacks.back().to = lack.to;
    } else {
      lacks.push_back(std::move(lack));
    }
  }
  return lacks;
}

Json ToJson(const KeptOps& lack, const Since& since) {
  return Json{
      {"collector", lack.collector},
      {"ranks", lack.ranks},
      {"from_unix_ns", lack.from.ns},
      {"to_unix_ns", lack.to.ns},
      {"why", since.contains(lack.collector) ? "it is not there any more" : "it does not answer"}};
}

}  // namespace

std::string JoinedKeptOps(const std::vector<std::string>& lists,
                          const absl::StatusOr<std::vector<KeptOps>>& told,
                          const OpsStretch& stretch) {
  Json all;
  Since since;
  for (const std::string& list : lists) {
    const Json one = Json::parse(list, nullptr, false);
    if (!one.is_object() || !one.contains("parts") || !one["parts"].is_array()) continue;
    if (all.is_null()) {
      all = one;
      all["parts"] = Json::array();
    }
    for (const Json& part : one["parts"]) {
      since[part.value("collector", "")] = WallNs(part.value("since_unix_ns", std::int64_t{0}));
      all["parts"].push_back(part);
    }
  }
  if (!told.ok()) {
    all["lacks"].push_back(
        {{"collector", ""},
         {"why", absl::StrCat("the history does not answer, so what collectors that are away keep "
                              "is not known: ",
                              std::string(told.status().message()))}});
    return all.dump();
  }
  for (const KeptOps& lack : Lacks(*told, since, stretch)) {
    all["lacks"].push_back(ToJson(lack, since));
  }
  return all.dump();
}

}  // namespace fathom::collector
