#include "collector/export/report.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "collector/export/group_kind.h"
#include "collector/export/ledger_proto.h"
#include "collector/export/step_proto.h"
#include "collector/export/verdict_proto.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

std::string LevelName(diagnosis::SignalState::Level level) {
  using Level = diagnosis::SignalState::Level;
  if (level == Level::kOn) return "on";
  return level == Level::kPartly ? "partly" : "off";
}

void PutJob(const diagnosis::JobView& view, const std::string& source, v1::Job& out) {
  out.set_name(view.name);
  out.set_ranks(view.world_size);
  out.set_nodes(view.nodes);
  out.set_source(source);
  for (const auto& group : view.groups) {
    auto& g = *out.add_groups();
    g.set_id(GroupIdText(group.id));
    g.set_name(group.name);
    g.set_kind(GroupKind(group, view.world_size));
    for (const RankId rank : group.members) g.add_ranks(rank.value);
  }
}

void PutIterations(const diagnosis::Diagnosis& diagnosis, v1::Iterations& out) {
  out.set_count(static_cast<std::uint64_t>(std::max<std::int64_t>(diagnosis.iterations, 0)));
  out.set_median_s(diagnosis.median_iteration.Seconds());
  for (const auto& one : diagnosis.irregular) {
    auto& irregular = *out.add_irregular();
    irregular.set_index(one.index.value);
    irregular.set_duration_s(one.duration.Seconds());
    irregular.set_kind(one.kind);
  }
}

void PutRanks(const diagnosis::Diagnosis& diagnosis, v1::Report& out) {
  for (const auto& rank : diagnosis.ranks) {
    auto& r = *out.add_ranks();
    r.set_rank(rank.rank.value);
    r.set_node(rank.node);
    r.set_compute_s(rank.compute.Seconds());
    r.set_non_compute_s(rank.non_compute.Seconds());
    r.set_communication_s(rank.communication.Seconds());
    r.set_wait_s(rank.wait.Seconds());
    r.set_idle_s(rank.idle.Seconds());
    r.set_overlap_ratio(rank.overlap_ratio);
    r.set_late_s(rank.late.Seconds());
  }
}

void PutWhatIf(const diagnosis::WhatIf& from, v1::WhatIf& out) {
  out.set_slowdown(from.slowdown);
  out.set_measured_s(from.measured_s);
  out.set_replayed_s(from.replayed_s);
  out.set_ideal_s(from.ideal_s);
  out.set_launch_slowdown(from.launch_slowdown);
  out.set_worst_workers_share(from.worst_workers_share);
  out.set_last_stage_share(from.last_stage_share);
  v1::WhatIf::Only& only = *out.mutable_only();
  for (const auto& worker : from.worker) {
    auto& w = *only.add_worker();
    w.add_ranks(worker.rank.value);
    w.set_slowdown(worker.slowdown);
  }
  const auto put = [](const diagnosis::IndexSlowdown& from_one, v1::WhatIf::IndexShare& to) {
    to.set_index(static_cast<std::uint32_t>(from_one.index));
    to.set_slowdown(from_one.slowdown);
  };
  for (const auto& replica : from.replica) put(replica, *only.add_replica());
  for (const auto& stage : from.stage) put(stage, *only.add_stage());
  for (const auto& kind : from.kind) {
    auto& k = *only.add_kind();
    k.set_name(kind.name);
    k.set_slowdown(kind.slowdown);
  }
}

void PutCoverage(const diagnosis::JobView& view, v1::Coverage& out) {
  for (const auto& signal : view.signals) {
    auto& s = *out.add_signals();
    s.set_name(signal.name);
    s.set_state(LevelName(signal.level));
    s.set_hides(signal.hides);
  }
  std::set<std::uint32_t> seen;
  for (const auto& rank : view.ranks) seen.insert(rank.rank.value);
  constexpr int kMaxListed = 10'000;
  for (std::uint32_t r = 0; r < view.world_size && out.ranks_missing_size() < kMaxListed; ++r) {
    if (!seen.contains(r)) out.add_ranks_missing(r);
  }
  out.set_records_dropped(view.records_dropped);
}

}  // namespace

void BuildReport(const diagnosis::JobView& view, const diagnosis::Diagnosis& diagnosis,
                 const std::vector<Episode>& episodes, const std::string& source, v1::Report& out,
                 const std::vector<diagnosis::RankTables>& tables) {
  out.set_schema("fathom.v1.Report");
  PutJob(view, source, *out.mutable_job());
  PutIterations(diagnosis, *out.mutable_iterations());
  for (const Episode& episode : episodes) {
    if (!episode.superseded) ToProto(episode, *out.add_verdicts());
  }
  if (diagnosis.account) ToProto(*diagnosis.account, *out.mutable_ledger());
  if (diagnosis.what_if) PutWhatIf(*diagnosis.what_if, *out.mutable_what_if());
  ToProto(diagnosis::BoundOf(view, tables), *out.mutable_step());
  PutRanks(diagnosis, out);
  PutCoverage(view, *out.mutable_coverage());
  for (const auto& abstention : diagnosis.abstained) {
    auto& a = *out.add_abstained();
    a.set_question(abstention.question);
    a.set_missing(abstention.missing);
  }
}

std::string VerdictJson(const Episode& episode) {
  v1::Verdict message;
  ToProto(episode, message);
  message.set_updated_unix_ns(episode.updated.ns);
  message.set_seen_unix_ns(episode.seen.ns);
  message.set_authenticated(episode.authenticated);
  return ToJson(message);
}

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) return "{}";
  return json;
}

}  // namespace fathom::collector
