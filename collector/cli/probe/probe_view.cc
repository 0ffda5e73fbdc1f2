#include "collector/cli/probe/probe_view.h"

#include <array>
#include <cmath>

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/render/table.h"
#include "collector/cli/text/json_fields.h"
#include "collector/cli/text/text.h"
#include "collector/probe/probe_run.h"

namespace fathom::cli {
namespace {

std::string Value(double value, const std::string& unit) {
  if (unit == "s") return Seconds(value);
  if (unit == "ratio") return Percent(value);
  static constexpr std::array<const char*, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t place = 0;
  for (; std::abs(value) >= 1000 && place + 1 < kPrefixes.size(); ++place) value /= 1000;
  return Cat(Number(value), " ", kPrefixes[place], unit == "1" ? "" : unit);
}

std::string Place(const std::string& figure, const std::string& where) {
  return where.empty() ? figure : Cat(figure, " (", where, ")");
}

std::string FindingText(const v1::ProbeFinding& finding) {
  const std::string whom = finding.against() == "past"
                               ? Cat("its ", finding.references(), " earlier runs")
                               : Cat("its ", finding.references(), " peers");
  return Cat(Place(finding.figure(), finding.where()), " of ", finding.probe(), ": ",
             Value(finding.value(), finding.unit()), " against ",
             Value(finding.usual(), finding.unit()), " of ", whom, ", ", Percent(finding.loss()),
             finding.unit() == "ratio" ? " of its time lost" : " of its speed lost");
}

const char* Outcome(const v1::ProbeResult& result) { return result.outcome().c_str(); }

}  // namespace

std::string ProbeSentence(const v1::NodeProbe& run) {
  const v1::ProbeJudgement& judgement = run.judgement();
  const std::string head = Cat(run.node(), ": ", judgement.state());
  if (!run.refused().empty()) return Printable(Cat(run.node(), ": not probed, ", run.refused()));
  if (!judgement.faults().empty()) {
    const v1::ProbeFault& fault = judgement.faults(0);
    return Printable(Cat(head, "; ", fault.probe(), ": ", fault.reason()));
  }
  if (!judgement.slow().empty()) {
    const int more = judgement.slow_size() - 1;
    return Printable(Cat(head, "; ", FindingText(judgement.slow(0)),
                         more > 0 ? Cat(" (and ", more, " more)") : ""));
  }
  if (judgement.state() == "clean") {
    return Printable(Cat(head, "; a loss of ", Percent(judgement.sees()),
                         " would have been found in every figure"));
  }
  return Printable(Cat(head, "; ", judgement.why()));
}

std::string ProbeText(const v1::NodeProbe& run) {
  std::string out = Cat(ProbeSentence(run), "\n");
  if (!run.refused().empty()) return out;
  AppendTo(&out, Printable(collector::HardwareOf(run)), "\n");
  Table table({{"PROBE"},
               {"OUTCOME"},
               {"FIGURE"},
               {"VALUE", Table::Align::kRight},
               {"SPREAD", Table::Align::kRight}});
  for (const v1::ProbeResult& result : run.results()) {
    if (result.figures().empty()) {
      table.Add({Printable(result.probe()), Outcome(result), Printable(result.reason()), "", ""});
    }
    for (const v1::ProbeFigure& figure : result.figures()) {
      const bool first = &figure == &result.figures(0);
      table.Add({first ? Printable(result.probe()) : "", first ? Outcome(result) : "",
                 Printable(Place(figure.name(), figure.where())),
                 Value(figure.value(), figure.unit()),
                 figure.spread() > 0 ? Value(figure.spread(), figure.unit()) : ""});
    }
  }
  AppendTo(&out, table.ToString());
  for (int i = 1; i < run.judgement().slow_size(); ++i) {
    AppendTo(&out, "slow: ", Printable(FindingText(run.judgement().slow(i))), "\n");
  }
  return out;
}

}  // namespace fathom::cli
