#include "collector/store/run_record.h"

#include <algorithm>

#include "fathom/v1/run.pb.h"

namespace fathom::collector {
namespace {

using diagnosis::RunOutcome;

void Put(const diagnosis::Distribution& from, v1::RunRecord::Distribution& out) {
  out.set_count(from.count);
  for (const double quantile : from.quantiles) out.add_quantiles_s(static_cast<float>(quantile));
  out.set_duration_s(from.mean.duration_s);
  out.set_computing_s(from.mean.computing_s);
  out.set_communication_s(from.mean.communication_s);
  out.set_cores_s(from.mean.cores_s);
  out.set_gc_s(from.mean.gc_s);
  out.set_dataloader_s(from.mean.dataloader_s);
  out.set_noise(from.noise);
  out.set_void_between_s(from.mean.void_between_s);
  out.set_void_within_s(from.mean.void_within_s);
  out.set_void_known(from.mean.void_known);
  if (from.mean.flop_known > 0) {
    out.mutable_flop()->Add(from.mean.flop.begin(), from.mean.flop.end());
  }
  out.set_flop_known(from.mean.flop_known);
  out.set_net_s(from.net_s);
  if (!diagnosis::Known(from.mean.issued)) return;
  for (const float share : from.mean.issued) out.add_issued(share);
}

diagnosis::Distribution Get(const v1::RunRecord::Distribution& in) {
  diagnosis::Distribution out;
  out.count = in.count();
  out.quantiles.assign(in.quantiles_s().begin(), in.quantiles_s().end());
  out.mean.duration_s = in.duration_s();
  out.mean.computing_s = in.computing_s();
  out.mean.communication_s = in.communication_s();
  out.mean.cores_s = in.cores_s();
  out.mean.gc_s = in.gc_s();
  out.mean.dataloader_s = in.dataloader_s();
  out.mean.void_between_s = in.void_between_s();
  out.mean.void_within_s = in.void_within_s();
  out.mean.void_known = in.void_known();
  const int classes = std::min(in.flop_size(), static_cast<int>(kFlopClasses));
  std::copy_n(in.flop().begin(), classes, out.mean.flop.begin());
  out.mean.flop_known = in.flop_known();
  out.net_s = in.net_s();
  if (in.issued_size() == static_cast<int>(kIssueBuckets)) {
    std::copy(in.issued().begin(), in.issued().end(), out.mean.issued.begin());
  }
  out.noise = in.noise();
  return out;
}

void Put(const diagnosis::JobProfile& from, v1::RunRecord::Profile& out) {
  out.set_name(from.name);
  out.set_program(from.program);
  out.set_device(from.device);
  out.set_framework(from.framework);
  out.set_world_size(from.world_size);
  for (const diagnosis::WorkPart& part : from.work) {
    v1::RunRecord::Work& work = *out.add_work();
    work.set_group_size(part.group_size);
    work.set_kind(static_cast<std::uint32_t>(part.kind));
    work.set_calls(part.calls);
    work.set_bytes(part.bytes);
  }
}

diagnosis::JobProfile Get(const v1::RunRecord::Profile& in) {
  diagnosis::JobProfile out;
  out.name = in.name();
  out.program = in.program();
  out.device = in.device();
  out.framework = in.framework();
  out.world_size = in.world_size();
  for (const v1::RunRecord::Work& work : in.work()) {
    const bool known = work.kind() < kCollectiveKindCount;
    out.work.push_back(
        {work.group_size(),
         known ? CollectiveKind{static_cast<std::uint8_t>(work.kind())} : CollectiveKind::kUnknown,
         work.calls(), work.bytes()});
  }
  return out;
}

RunOutcome OutcomeNamed(const std::string& name) {
  for (const RunOutcome each :
       {RunOutcome::kSame, RunOutcome::kSlower, RunOutcome::kFaster, RunOutcome::kStarved}) {
    if (ToString(each) == name) return each;
  }
  return RunOutcome::kUnknown;
}

}  // namespace

std::string ToBytes(const RunRecord& run) {
  v1::RunRecord out;
  out.set_id(run.id);
  out.set_job(run.job);
  out.set_started_ns(static_cast<std::uint64_t>(run.started.ns));
  out.set_last_seen_ns(static_cast<std::uint64_t>(run.last_seen.ns));
  out.set_iterations(run.iterations);
  out.set_ranks(run.ranks);
  out.set_ended(run.ended);
  out.set_profile_id(ProfileId(run.profile));
  Put(run.profile, *out.mutable_profile());
  for (const diagnosis::SetupVariant& variant : run.setup.variants) {
    v1::RunRecord::Variant& kept = *out.add_setup();
    kept.mutable_facts()->insert(variant.facts.begin(), variant.facts.end());
    kept.mutable_nodes()->Assign(variant.nodes.begin(), variant.nodes.end());
  }
  if (run.first.known()) Put(run.first, *out.mutable_first());
  if (run.start.known()) Put(run.start, *out.mutable_start());
  if (run.whole.known()) Put(run.whole, *out.mutable_whole());
  out.set_outcome(std::string(ToString(run.outcome)));
  out.set_sentence(run.sentence);
  return out.SerializeAsString();
}

std::optional<RunRecord> RunFromBytes(std::string_view bytes) {
  v1::RunRecord in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || in.id().empty()) {
    return std::nullopt;
  }
  RunRecord run;
  run.id = in.id();
  run.job = in.job();
  run.started = WallNs(static_cast<std::int64_t>(in.started_ns()));
  run.last_seen = WallNs(static_cast<std::int64_t>(in.last_seen_ns()));
  run.iterations = in.iterations();
  run.ranks = in.ranks();
  run.ended = in.ended();
  run.profile = Get(in.profile());
  for (const v1::RunRecord::Variant& kept : in.setup()) {
    run.setup.variants.push_back(
        {{kept.facts().begin(), kept.facts().end()}, {kept.nodes().begin(), kept.nodes().end()}});
  }
  run.first = Get(in.first());
  run.start = Get(in.start());
  run.whole = Get(in.whole());
  run.outcome = OutcomeNamed(in.outcome());
  run.sentence = in.sentence();
  return run;
}

}  // namespace fathom::collector
