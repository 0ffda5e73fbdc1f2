#include "collector/export/verdict_proto.h"

#include <string>
#include <vector>

#include "collector/export/enumerator.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

std::string Text(std::string_view name) { return std::string(name); }

void Put(const diagnosis::Evidence& evidence, v1::Evidence& out) {
  out.set_statement(evidence.statement);
  out.set_value(evidence.value);
  out.set_unit(evidence.unit);
  out.set_reference(evidence.reference);
  out.set_source(evidence.source);
}

diagnosis::Evidence Get(const v1::Evidence& evidence) {
  return {evidence.statement(), evidence.value(), evidence.unit(), evidence.reference(),
          evidence.source()};
}

void Put(const diagnosis::WaitStep& step, v1::WaitStep& out) {
  out.set_hop(static_cast<std::uint32_t>(step.hop));
  for (const RankId rank : step.waiting) out.add_ranks(rank.value);
  for (const RankId rank : step.for_ranks) out.add_for_ranks(rank.value);
  out.set_group(step.group);
  out.set_groups(static_cast<std::uint32_t>(step.groups));
  out.set_op(Text(CollectiveKindName(step.kind)));
  out.set_number(step.number);
  out.set_waited_s(step.waited.Seconds());
}

void Put(const diagnosis::StackCluster& cluster, v1::StackCluster& out) {
  for (const RankId rank : cluster.ranks) out.add_ranks(rank.value);
  out.mutable_frames()->Assign(cluster.frames.begin(), cluster.frames.end());
  out.set_differs_at(cluster.differs_at);
  out.set_culprit(cluster.culprit);
  out.set_source(cluster.source);
  out.set_pause_s(cluster.pause.Seconds());
}

diagnosis::StackCluster Get(const v1::StackCluster& in) {
  diagnosis::StackCluster cluster;
  for (const std::uint32_t rank : in.ranks()) cluster.ranks.emplace_back(rank);
  cluster.frames.assign(in.frames().begin(), in.frames().end());
  cluster.differs_at = in.differs_at();
  cluster.culprit = in.culprit();
  cluster.source = in.source();
  cluster.pause = Nanos::FromSeconds(in.pause_s());
  return cluster;
}

void Put(const ProbeProof& proof, v1::ProbeProof& out) {
  out.set_state(proof.state);
  out.set_sentence(proof.sentence);
  out.set_request_id(proof.request_id);
  out.set_wall_ns(proof.at.ns);
  out.set_sees(proof.sees);
}

ProbeProof Get(const v1::ProbeProof& proof) {
  return {proof.state(), proof.sentence(), proof.request_id(), WallNs(proof.wall_ns()),
          proof.sees()};
}

void Put(const diagnosis::Detail& detail, v1::Detail& out) {
  out.set_function(detail.where.function);
  out.set_file(detail.where.file);
  out.set_line(detail.where.line);
  out.set_share(detail.where.share);
  out.set_peers_share(detail.where.peers_share);
  out.set_doing(detail.doing);
  out.set_missing(detail.missing);
  if (detail.of_loss > 0) out.set_of_loss(detail.of_loss);
  for (const diagnosis::HotFunction& each : detail.functions) {
    v1::HotFunction& told = *out.add_functions();
    told.set_function(each.function);
    told.set_file(each.file);
    told.set_line(each.line);
    told.set_share(each.share);
    told.set_peers_share(each.peers_share);
  }
}

// How well it is known stands in the verdict's evidence.
diagnosis::Detail Get(const v1::Detail& in) {
  diagnosis::Detail detail;
  detail.where = {in.function(), in.file(), in.line(), in.share(), in.peers_share()};
  detail.doing = in.doing();
  detail.missing = in.missing();
  detail.of_loss = in.of_loss();
  for (const auto& each : in.functions()) {
    detail.functions.push_back(
        {each.function(), each.file(), each.line(), each.share(), each.peers_share()});
  }
  return detail;
}

CollectiveKind KindNamed(const std::string& name) {
  for (std::uint8_t i = 0; i < kCollectiveKindCount; ++i) {
    if (CollectiveKindName(CollectiveKind{i}) == name) return CollectiveKind{i};
  }
  return CollectiveKind::kUnknown;
}

diagnosis::WaitStep Get(const v1::WaitStep& in) {
  diagnosis::WaitStep step;
  step.hop = static_cast<int>(in.hop());
  for (const std::uint32_t rank : in.ranks()) step.waiting.emplace_back(rank);
  for (const std::uint32_t rank : in.for_ranks()) step.for_ranks.emplace_back(rank);
  step.group = in.group();
  step.groups = static_cast<int>(in.groups());
  step.kind = KindNamed(in.op());
  step.number = in.number();
  step.waited = Nanos::FromSeconds(in.waited_s());
  return step;
}

void PutNames(const diagnosis::Verdict& verdict, v1::Verdict& out) {
  out.set_grade(Text(ToString(verdict.grade)));
  out.set_cause(Text(ToString(verdict.cause)));
  out.set_class_(Text(ToString(verdict.problem)));
  out.set_role("culprit");
  out.set_owner(Text(ToString(verdict.owner)));
  out.set_sentence(verdict.sentence);
}

void PutLists(const diagnosis::Verdict& verdict, v1::Verdict& out) {
  for (const RankId rank : verdict.victims) out.add_victims(rank.value);
  for (const auto& evidence : verdict.evidence) Put(evidence, *out.add_evidence());
  for (const auto& evidence : verdict.counter_evidence) Put(evidence, *out.add_counter_evidence());
  for (const auto& text : verdict.would_change) out.add_would_change(text);
  for (const auto& step : verdict.waits) Put(step, *out.add_waits());
  for (const auto& cluster : verdict.stacks) Put(cluster, *out.add_stacks());
}

diagnosis::Verdict GetVerdict(const v1::Verdict& in) {
  diagnosis::Verdict verdict;
  verdict.grade = Named(in.grade(), diagnosis::Grade::kEstablished);
  verdict.cause = Named(in.cause(), diagnosis::Cause::kRegression);
  verdict.problem = Named(in.class_(), diagnosis::ProblemClass::kNonCommunicationSlow);
  verdict.owner = Named(in.owner(), diagnosis::Owner::kAlgorithm);
  verdict.entity = FromProto(in.entity());
  verdict.sentence = in.sentence();
  verdict.since_iteration = Iteration(in.since().iteration());
  verdict.from_start = in.has_since() && !in.since().has_iteration();
  verdict.every = in.every();
  verdict.since_time = WallNs(in.since().time_unix_ns());
  verdict.cost = {in.cost().slowdown(), in.cost().seconds_per_iteration(), in.cost().gpu_hours(),
                  in.cost().gpu_hours_per_minute()};
  for (const std::uint32_t rank : in.victims()) verdict.victims.emplace_back(rank);
  for (const auto& evidence : in.evidence()) verdict.evidence.push_back(Get(evidence));
  for (const auto& evidence : in.counter_evidence()) {
    verdict.counter_evidence.push_back(Get(evidence));
  }
  for (const auto& step : in.waits()) verdict.waits.push_back(Get(step));
  for (const auto& cluster : in.stacks()) verdict.stacks.push_back(Get(cluster));
  verdict.would_change.assign(in.would_change().begin(), in.would_change().end());
  verdict.counter = in.detail().counter();
  verdict.action_text = in.action().text();
  verdict.action_command = in.action().command();
  return verdict;
}

}  // namespace

diagnosis::Entity FromProto(const v1::Entity& entity) {
  diagnosis::Entity out;
  out.type = Named(entity.type(), diagnosis::EntityType::kJob);
  for (const std::uint32_t rank : entity.ranks()) out.ranks.emplace_back(rank);
  out.node = entity.node();
  out.gpu = entity.gpu();
  out.link_src = entity.link().src();
  out.link_dst = entity.link().dst();
  return out;
}

void ToProto(const diagnosis::Entity& entity, v1::Entity& out) {
  out.set_type(std::string(ToString(entity.type)));
  for (const RankId rank : entity.ranks) out.add_ranks(rank.value);
  out.set_node(entity.node);
  out.set_gpu(entity.gpu);
  if (entity.link_src.empty() && entity.link_dst.empty()) return;
  out.mutable_link()->set_src(entity.link_src);
  out.mutable_link()->set_dst(entity.link_dst);
}

void ToProto(const Episode& episode, v1::Verdict& out) {
  const diagnosis::Verdict& verdict = episode.verdict;
  out.set_id(episode.id);
  out.set_job(episode.job);
  PutNames(verdict, out);
  ToProto(verdict.entity, *out.mutable_entity());
  if (!verdict.from_start) out.mutable_since()->set_iteration(verdict.since_iteration.value);
  out.set_every(static_cast<std::int32_t>(verdict.every));
  out.mutable_since()->set_time_unix_ns(verdict.since_time.ns);
  if (!episode.open()) {
    out.mutable_until()->set_iteration(episode.until_iteration.value);
    out.mutable_until()->set_time_unix_ns(episode.closed.ns);
    out.set_closed_because(episode.closed_because);
  }
  out.mutable_cost()->set_slowdown(verdict.cost.slowdown);
  out.mutable_cost()->set_seconds_per_iteration(verdict.cost.seconds_per_iteration);
  out.mutable_cost()->set_gpu_hours(verdict.cost.gpu_hours);
  out.mutable_cost()->set_gpu_hours_per_minute(verdict.cost.gpu_hours_per_minute);
  PutLists(verdict, out);
  const bool captured = episode.detail.known() || !episode.detail.missing.empty();
  if (captured) Put(episode.detail, *out.mutable_detail());
  if (!verdict.counter.empty()) out.mutable_detail()->set_counter(verdict.counter);
  if (episode.proof.known()) Put(episode.proof, *out.mutable_proof());
  out.mutable_action()->set_text(verdict.action_text);
  out.mutable_action()->set_command(verdict.action_command);
}

Episode FromProto(const v1::Verdict& in) {
  Episode episode;
  episode.id = in.id();
  episode.job = in.job();
  episode.verdict = GetVerdict(in);
  episode.detail = Get(in.detail());
  if (in.has_proof()) episode.proof = Get(in.proof());
  if (in.has_until()) {
    episode.closed = WallNs(in.until().time_unix_ns());
    episode.until_iteration = Iteration(in.until().iteration());
    episode.closed_because = in.closed_because();
    episode.superseded = in.closed_because().starts_with("superseded");
  }
  return episode;
}

}  // namespace fathom::collector
