#include "collector/cli/report/verdict_card.h"

#include <algorithm>
#include <vector>

#include "collector/cli/render/quantity.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kLabelColumns = 11;
constexpr std::size_t kCardIndent = 8;
constexpr std::size_t kEvidenceOnCard = 2;
constexpr std::size_t kEvidenceInShort = 3;
constexpr std::size_t kAgainstInShort = 2;
constexpr std::size_t kWaitsInShort = 3;
constexpr std::size_t kFramesInShort = 3;
constexpr std::size_t kLinesEach = 2;  // of what is shown in short

Ink GradeInk(const std::string& grade) {
  const int strength = GradeStrength(grade);
  return strength == 3 ? Ink::kRed : strength == 2 ? Ink::kYellow : Ink::kDim;
}

// Writes "label      text" lines at one indent, wrapped to the terminal.
class Lines {
 public:
  Lines(const Terminal& terminal, std::size_t indent) : terminal_(terminal), indent_(indent) {}

  void Add(std::string_view label, std::string_view text, Ink ink = Ink::kPlain) {
    if (text.empty()) return;
    const std::size_t lead = indent_ + kLabelColumns;
    const std::string label_text = Cat(label, std::string(kLabelColumns - label.size(), ' '));
    AppendTo(&out_, std::string(indent_, ' '), Paint(terminal_, Ink::kDim, label_text),
             Paint(terminal_, ink, Wrap(text, Room(), std::string(lead, ' '))), "\n");
  }

  // Cut to kLinesEach lines, of which words leave some room unused.
  void AddShort(std::string_view label, std::string_view text) {
    constexpr std::size_t kUnused = 8;
    Add(label, CutToWidth(text, kLinesEach * (Room() - kUnused)));
  }

  std::string Take() { return std::move(out_); }

 private:
  std::size_t Room() const {
    const std::size_t lead = indent_ + kLabelColumns;
    const auto columns = static_cast<std::size_t>(terminal_.columns);
    return columns > lead + 30 ? columns - lead : 30;
  }

  const Terminal& terminal_;
  std::size_t indent_;
  std::string out_;
};

std::string Join(std::vector<std::string> parts) {
  std::string out;
  for (const std::string& part : parts) {
    if (!part.empty()) AppendTo(&out, out.empty() ? "" : ", ", part);
  }
  return out;
}

std::string CauseText(const VerdictView& v) {
  return Cat(v.cause, v.owner.empty() ? "" : Cat(" (for ", v.owner, ")"));
}

// "write_metrics, line 85 of /job/train.py (sleep)"
std::string FunctionText(const VerdictView& v) {
  if (v.function.empty()) return "";
  const std::string line = v.line > 0 ? Cat(", line ", v.line) : "";
  const std::string file = v.file.empty() ? "" : Cat(line.empty() ? ", " : " of ", v.file);
  return Cat(v.function, line, file, v.doing.empty() ? "" : Cat(" (", v.doing, ")"));
}

std::string SinceText(const VerdictView& v) {
  const std::string begin = v.from_start             ? std::string("the start of what is known")
                            : v.since_iteration >= 0 ? Cat("iteration ", v.since_iteration)
                                                     : std::string();
  return Join({begin, v.every > 1 ? Cat("in every ", v.every, " iterations") : "",
               v.since_unix_ns > 0 ? LocalTime(v.since_unix_ns) : ""});
}

std::string UntilText(const VerdictView& v) {
  if (!v.closed) return "";
  return Join(
      {v.until_iteration >= 0 ? Cat("iteration ", v.until_iteration) : "over", v.closed_because});
}

std::string CostText(const VerdictView& v) {
  const bool slower = v.slowdown > 1;
  return Join({slower ? Cat(Times(v.slowdown), " the expected iteration time") : "",
               v.seconds_per_iteration > 0
                   ? Cat(Seconds(v.seconds_per_iteration), " lost an iteration")
                   : "",
               v.gpu_hours > 0 ? Cat(GpuTime(v.gpu_hours), " so far") : "",
               v.gpu_hours_per_minute > 0 && !v.closed
                   ? Cat(GpuTime(v.gpu_hours_per_minute), " more each minute")
                   : ""});
}

// "1 rank", though the unit of the evidence is "ranks".
std::string OneOf(std::string unit) {
  if (unit.size() > 4 && unit.ends_with('s') && !unit.ends_with("ss")) unit.pop_back();
  return unit;
}

std::string WithUnit(double value, const std::string& unit) {
  if (unit == "s" && value > 0) return Seconds(value);
  if (unit == "s" && value < 0) return Cat("-", Seconds(-value));
  if (unit.empty() || unit == "ratio") return Number(value);
  return Cat(Number(value), " ", value == 1 ? OneOf(unit) : unit);
}

std::string EvidenceText(const EvidenceView& e, bool with_source) {
  const std::string numbers = EvidenceNumbers(e);
  std::string_view statement = e.statement;
  if (!numbers.empty() && statement.ends_with('.')) statement.remove_suffix(1);
  return Cat(statement, numbers.empty() ? "" : Cat(": ", numbers),
             with_source && !e.source.empty() ? Cat(" [", e.source, "]") : "");
}

void AddEvidence(std::string_view label, const std::vector<EvidenceView>& evidence,
                 std::size_t most, bool with_source, Lines* lines) {
  for (std::size_t i = 0; i < std::min(most, evidence.size()); ++i) {
    lines->Add(i == 0 ? label : "", EvidenceText(evidence[i], with_source));
  }
}

constexpr std::int64_t kHopsDrawn = 20;

// "<- ranks 0, 1, 3 in all_reduce 41 of default_pg, 12 s": one arrow a hop behind the culprit.
std::string WaitText(const WaitStepView& step) {
  std::string out;
  for (std::int64_t hop = 0; hop < std::min(step.hop, kHopsDrawn); ++hop) out += "<- ";
  AppendTo(&out, RankNames(step.ranks), " in ", step.op);
  if (step.number >= 0) AppendTo(&out, " ", step.number);
  if (!step.group.empty()) AppendTo(&out, " of ", step.group);
  if (step.groups > 1) AppendTo(&out, " (", step.groups, " groups)");
  if (step.waited_s > 0) AppendTo(&out, ", ", Seconds(step.waited_s));
  return out;
}

void AddWaits(const VerdictView& v, Lines* lines) {
  if (v.waits.empty()) return;
  lines->Add("who waits", v.Culprit());
  for (const WaitStepView& step : v.waits) lines->Add("", WaitText(step));
}

constexpr std::size_t kStacksOnPage = 4;
constexpr std::size_t kFramesOnPage = 12;

// "rank 2 (culprit), py-spy, paused 0.08 ms"
std::string StackTitle(const StackView& stack) {
  const std::string pause = stack.pause_s > 0 ? Cat(", paused for ", Seconds(stack.pause_s)) : "";
  return Cat(RankNames(stack.ranks), stack.culprit ? " (culprit)" : "", ", ", stack.source, pause);
}

// Innermost first; ">" marks the frame in which it first differs from most others.
void AddStacks(const VerdictView& v, Lines* lines) {
  for (std::size_t i = 0; i < std::min(kStacksOnPage, v.stacks.size()); ++i) {
    const StackView& stack = v.stacks[i];
    lines->Add(i == 0 ? "stacks" : "", StackTitle(stack));
    const auto differs = static_cast<std::size_t>(std::max<std::int64_t>(stack.differs_at, 0));
    const std::size_t shown = std::min(stack.frames.size(), std::max(kFramesOnPage, differs + 1));
    for (std::size_t frame = 0; frame < shown; ++frame) {
      const bool marked = static_cast<std::int64_t>(frame) == stack.differs_at;
      lines->Add("", Cat(marked ? "> " : "| ", stack.frames[frame]));
    }
  }
}

// "supported, very likely": what a grade is worth to who acts on it.
std::string GradeText(const std::string& grade) {
  const int strength = GradeStrength(grade);
  const char* const worth = strength == 3   ? ", act on it"
                            : strength == 2 ? ", very likely"
                            : strength == 1 ? ", worth a look"
                                            : "";
  return Cat(grade, worth);
}

std::string WhoText(const VerdictView& v) {
  if (v.victims.empty()) return v.Culprit();
  return Cat(v.Culprit(), "; ", RankNames(v.victims), v.victims.size() == 1 ? " waits" : " wait");
}

// Where the culprit stands, innermost function first.
void AddPlace(const VerdictView& v, Lines* lines) {
  const auto culprit = std::find_if(v.stacks.begin(), v.stacks.end(),
                                    [](const StackView& stack) { return stack.culprit; });
  if (culprit == v.stacks.end()) return;
  std::string frames;
  for (std::size_t i = 0; i < std::min(kFramesInShort, culprit->frames.size()); ++i) {
    AppendTo(&frames, i > 0 ? ", called by " : "", culprit->frames[i]);
  }
  lines->AddShort("is in", frames);
}

void AddInShort(std::string_view label, const std::vector<EvidenceView>& evidence, std::size_t most,
                Lines* lines) {
  for (std::size_t i = 0; i < std::min(most, evidence.size()); ++i) {
    lines->AddShort(i == 0 ? label : "", EvidenceText(evidence[i], false));
  }
}

void AddAction(const VerdictView& v, Lines* lines) {
  lines->Add("do", v.action_text);
  if (!v.action_command.empty()) lines->Add("", Cat("$ ", v.action_command), Ink::kCyan);
}

}  // namespace

std::string EvidenceNumbers(const EvidenceView& e) {
  if (e.value == 0 && e.reference == 0) return "";
  const std::string reference =
      e.reference == 0 ? "" : Cat(" (against ", WithUnit(e.reference, e.unit), ")");
  return Cat(WithUnit(e.value, e.unit), reference);
}

std::string VerdictCard(const VerdictView& v, const Terminal& terminal, std::string_view lead) {
  const std::string sentence = v.sentence.empty() ? Cat(v.Culprit(), ": ", v.cause) : v.sentence;
  const auto columns = TextColumns(terminal);
  std::string out = Cat(lead,
                        Paint(terminal, Ink::kBold,
                              Wrap(sentence, columns - lead.size(), std::string(kCardIndent, ' '))),
                        "\n");
  Lines lines(terminal, kCardIndent);
  lines.Add("grade", v.grade, GradeInk(v.grade));
  lines.Add("cause", CauseText(v));
  lines.Add("function", FunctionText(v));
  lines.Add("gpu", v.gpu);
  lines.Add("since", SinceText(v));
  lines.Add("until", UntilText(v));
  lines.Add("cost", CostText(v));
  AddEvidence("evidence", v.evidence, kEvidenceOnCard, false, &lines);
  AddEvidence("against", v.counter_evidence, 1, false, &lines);
  AddAction(v, &lines);
  return out + lines.Take();
}

std::string VerdictSummary(const VerdictView& v, const Terminal& terminal) {
  const auto columns = TextColumns(terminal);
  std::string out = Cat(Paint(terminal, Ink::kBold, Wrap(v.sentence, columns, "")), "\n\n");
  Lines lines(terminal, 0);
  lines.Add("who", WhoText(v));
  lines.Add("cause", CauseText(v));
  lines.Add("function", FunctionText(v));
  lines.Add("grade", GradeText(v.grade), GradeInk(v.grade));
  lines.Add("since", SinceText(v));
  lines.Add("until", UntilText(v));
  lines.Add("cost", CostText(v));
  for (std::size_t i = 0; i < std::min(kWaitsInShort, v.waits.size()); ++i) {
    lines.AddShort(i == 0 ? "who waits" : "", WaitText(v.waits[i]));
  }
  AddPlace(v, &lines);
  AddInShort("evidence", v.evidence, kEvidenceInShort, &lines);
  AddInShort("against", v.counter_evidence, kAgainstInShort, &lines);
  AddAction(v, &lines);
  return out + lines.Take();
}

std::string VerdictPage(const VerdictView& v, const Terminal& terminal) {
  const auto columns = TextColumns(terminal);
  std::string out = Cat(Paint(terminal, Ink::kBold, Wrap(v.sentence, columns, "")), "\n\n");
  constexpr std::size_t kAll = 10'000;
  Lines lines(terminal, 0);
  lines.Add("verdict",
            Join({v.id, v.job.empty() ? "" : Cat("job ", v.job), v.closed ? "closed" : "active"}));
  lines.Add(v.Convicts() ? "culprit" : "lead on", v.Culprit());
  lines.Add("grade", v.grade, GradeInk(v.grade));
  lines.Add("cause", CauseText(v));
  lines.Add("function", FunctionText(v));
  lines.Add("class", v.problem_class);
  lines.Add("since", SinceText(v));
  lines.Add("until", UntilText(v));
  lines.Add("cost", CostText(v));
  lines.Add("victims", v.victims.empty() ? "" : RankNames(v.victims));
  AddWaits(v, &lines);
  AddStacks(v, &lines);
  AddEvidence("evidence", v.evidence, kAll, true, &lines);
  AddEvidence("against", v.counter_evidence, kAll, true, &lines);
  for (std::size_t i = 0; i < v.would_change.size(); ++i) {
    lines.Add(i == 0 ? "revise if" : "", v.would_change[i]);
  }
  AddAction(v, &lines);
  return out + lines.Take();
}

}  // namespace fathom::cli
