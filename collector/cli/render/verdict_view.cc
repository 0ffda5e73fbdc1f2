#include "collector/cli/render/verdict_view.h"
#include "collector/cli/text/text.h"

#include <algorithm>

namespace fathom::cli {
namespace {

std::vector<EvidenceView> ReadEvidence(const Json& list) {
  std::vector<EvidenceView> out;
  for (const Json& item : list) {
    out.push_back({TextField(item, "statement"), TextField(item, "unit"), TextField(item, "source"),
                   NumberField(item, "value"), NumberField(item, "reference")});
  }
  return out;
}

std::vector<StackView> ReadStacks(const Json& list) {
  std::vector<StackView> out;
  for (const Json& item : list) {
    StackView stack;
    stack.ranks = IntsField(item, "ranks");
    stack.frames = TextsField(item, "frames");
    stack.differs_at = IntField(item, "differs_at", -1);
    stack.culprit = BoolField(item, "culprit");
    stack.source = TextField(item, "source");
    stack.pause_s = NumberField(item, "pause_s");
    out.push_back(std::move(stack));
  }
  return out;
}

std::vector<WaitStepView> ReadWaits(const Json& list) {
  std::vector<WaitStepView> out;
  for (const Json& item : list) {
    out.push_back({IntField(item, "hop", 1), IntsField(item, "ranks"), TextField(item, "group"),
                   TextField(item, "op"), IntField(item, "groups", 1), IntField(item, "number", -1),
                   NumberField(item, "waited_s")});
  }
  return out;
}

void ReadEntity(const Json& entity, VerdictView* out) {
  out->entity_type = TextField(entity, "type");
  out->ranks = IntsField(entity, "ranks");
  out->node = TextField(entity, "node");
  out->gpu = TextField(entity, "gpu");
  out->link_src = TextField(ObjectField(entity, "link"), "src");
  out->link_dst = TextField(ObjectField(entity, "link"), "dst");
}

}  // namespace

bool VerdictView::Convicts() const { return GradeStrength(grade) >= 2; }

std::string RankList(std::vector<std::int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    if (end == i + 1) end = i;  // two in a row read better apart
    AppendTo(&out, out.empty() ? "" : ", ", ranks[i]);
    if (end > i) AppendTo(&out, "-", ranks[end]);
    i = end + 1;
  }
  return out;
}

std::string RankNames(const std::vector<std::int64_t>& ranks) {
  return Cat(ranks.size() > 1 ? "ranks " : "rank ", RankList(ranks));
}

std::string VerdictView::Culprit() const {
  std::string out = entity_type.empty() ? "rank" : entity_type;
  if (entity_type == "link") return Cat("link ", link_src, " -> ", link_dst);
  if (entity_type == "host" && !node.empty()) return Cat("host ", node);
  if (!ranks.empty()) {
    const bool plain = out == "rank";
    AppendTo(&out, plain ? "" : " with rank", ranks.size() > 1 ? "s " : " ", RankList(ranks));
  }
  if (!node.empty()) AppendTo(&out, " on ", node);
  if (!gpu.empty()) AppendTo(&out, ", GPU ", gpu);
  return out;
}

VerdictView ReadVerdict(const Json& verdict) {
  VerdictView out;
  out.id = TextField(verdict, "id");
  out.job = TextField(verdict, "job");
  out.grade = TextField(verdict, "grade");
  out.cause = TextField(verdict, "cause");
  out.problem_class = TextField(verdict, "class");
  out.role = TextField(verdict, "role");
  out.sentence = TextField(verdict, "sentence");
  out.owner = TextField(verdict, "owner");
  out.closed_because = TextField(verdict, "closed_because");
  ReadEntity(ObjectField(verdict, "entity"), &out);
  out.victims = IntsField(verdict, "victims");
  const Json& since = ObjectField(verdict, "since");
  out.from_start = !since.empty() && !HasField(since, "iteration");
  out.since_iteration = IntField(since, "iteration", -1);
  out.every = IntField(verdict, "every");
  out.since_unix_ns = IntField(since, "time_unix_ns");
  out.closed = HasField(verdict, "until");
  out.until_iteration = IntField(ObjectField(verdict, "until"), "iteration", -1);
  const Json& cost = ObjectField(verdict, "cost");
  out.slowdown = NumberField(cost, "slowdown");
  out.seconds_per_iteration = NumberField(cost, "seconds_per_iteration");
  out.gpu_hours = NumberField(cost, "gpu_hours");
  out.gpu_hours_per_minute = NumberField(cost, "gpu_hours_per_minute");
  const Json& detail = ObjectField(verdict, "detail");
  out.function = TextField(detail, "function");
  out.file = TextField(detail, "file");
  out.line = IntField(detail, "line");
  out.doing = TextField(detail, "doing");
  out.evidence = ReadEvidence(ListField(verdict, "evidence"));
  out.counter_evidence = ReadEvidence(ListField(verdict, "counter_evidence"));
  out.waits = ReadWaits(ListField(verdict, "waits"));
  out.stacks = ReadStacks(ListField(verdict, "stacks"));
  out.would_change = TextsField(verdict, "would_change");
  out.action_text = TextField(ObjectField(verdict, "action"), "text");
  out.action_command = TextField(ObjectField(verdict, "action"), "command");
  return out;
}

std::vector<VerdictView> ReadVerdicts(const Json& list) {
  std::vector<VerdictView> out;
  if (!list.is_array()) return out;
  for (const Json& item : list) out.push_back(ReadVerdict(item));
  return out;
}

}  // namespace fathom::cli
