#include "diagnosis/peers/probe_judgement.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr double kMostSick = 0.25;  // of the references

bool Judged(const ProbeFigure& figure) {
  static constexpr std::array<const char*, 5> kUnits = {"flop/s", "B/s", "1/s", "s", "ratio"};
  return std::find(kUnits.begin(), kUnits.end(), figure.unit) != kUnits.end();
}

// The slowest core has another name on each node; a NUMA node has the same.
bool SamePlace(const ProbeFigure& a, const ProbeFigure& b) {
  const auto names_part = [](const std::string& where) { return where.rfind("cpu", 0) != 0; };
  return a.where == b.where || !(names_part(a.where) || names_part(b.where));
}

bool SameFigure(const ProbeFigure& a, const ProbeFigure& b) {
  return a.probe == b.probe && a.name == b.name && a.unit == b.unit && SamePlace(a, b);
}

// The share of speed lost against `usual`; negative: it is faster.
double LossOf(const ProbeFigure& figure, double value, double usual) {
  if (figure.unit == "ratio") return figure.less_is_better ? value - usual : usual - value;
  const double better = figure.less_is_better ? usual : value;
  const double worse = figure.less_is_better ? value : usual;
  return worse > 0 ? 1 - better / worse : 0;
}

std::vector<double> ValuesOf(const ProbeFigure& figure, const std::vector<ProbedNode>& nodes) {
  std::vector<double> values;
  for (const ProbedNode& node : nodes) {
    for (const ProbeFigure& other : node.figures) {
      if (!SameFigure(figure, other) || !std::isfinite(other.value)) continue;
      values.push_back(other.value);
      break;
    }
  }
  return values;
}

// A MAD of few values is too small (Croux & Rousseeuw 1992, table of b_n).
double SmallSample(std::size_t n) {
  static constexpr std::array<double, 10> kFactor = {1,     1,   1.196, 1.495, 1.363,
                                                     1.206, 1.2, 1.14,  1.129, 1.107};
  const auto size = static_cast<double>(n);
  return n < kFactor.size() ? kFactor[n] : size / (size - 0.8);
}

struct Reference {
  double usual = 0;
  double threshold = 1;  // of the loss
};

double ThresholdOf(const std::vector<double>& losses, const ProbeLimits& limits) {
  const double sigma =
      std::max(limits.noise_floor, SmallSample(losses.size()) * MadSigma(losses, 0));
  const double worst = std::max(0.0, *std::max_element(losses.begin(), losses.end()));
  return std::max({limits.least_effect, limits.sigmas * sigma, limits.contrast * worst});
}

// Requires: values.
Reference ReferenceOf(const ProbeFigure& figure, std::vector<double> values,
                      const ProbeLimits& limits) {
  const auto may_go = static_cast<std::size_t>(kMostSick * static_cast<double>(values.size()));
  for (std::size_t gone = 0;; ++gone) {
    const double usual = Median(values);
    std::vector<double> losses;
    for (const double value : values) losses.push_back(LossOf(figure, value, usual));
    const double threshold = ThresholdOf(losses, limits);
    if (gone == may_go) return {usual, threshold};
    const auto worst = std::max_element(losses.begin(), losses.end());
    const double of_worst = *worst;
    const auto place = worst - losses.begin();
    losses.erase(worst);
    if (of_worst <= ThresholdOf(losses, limits)) return {usual, threshold};
    values.erase(values.begin() + place);
  }
}

// Whoever has other bits than those who agree; null where they do not agree or are too few.
const std::string* AgreedDigest(const std::string& probe, const std::vector<ProbedNode>& peers,
                                std::size_t fewest) {
  const std::string* agreed = nullptr;
  std::size_t votes = 0;
  for (const ProbedNode& peer : peers) {
    const auto at = peer.digests.find(probe);
    if (at == peer.digests.end() || at->second.empty()) continue;
    if (agreed != nullptr && *agreed != at->second) return nullptr;
    agreed = &at->second;
    ++votes;
  }
  return votes >= fewest ? agreed : nullptr;
}

// "avx2" of "avx2:0123": other instructions may round otherwise.
std::string InstructionsOf(const std::string& digest) { return digest.substr(0, digest.find(':')); }

void JudgeDigests(const ProbedNode& suspect, const std::vector<ProbedNode>& peers,
                  const ProbeLimits& limits, ProbeJudgement& out) {
  for (const auto& [probe, digest] : suspect.digests) {
    const std::string* agreed = AgreedDigest(probe, peers, limits.fewest);
    if (agreed == nullptr || *agreed == digest) continue;
    if (InstructionsOf(*agreed) != InstructionsOf(digest)) continue;
    out.faults.push_back({probe, "its results have other bits than those of its peers"});
  }
}

// False: there is nothing to hold it against.
bool JudgeFigure(const ProbeFigure& figure, const std::vector<double>& values, bool of_past,
                 const ProbeLimits& limits, ProbeJudgement& out) {
  if (values.size() < limits.fewest || !std::isfinite(figure.value)) return false;
  const Reference reference = ReferenceOf(figure, values, limits);
  const double loss = LossOf(figure, figure.value, reference.usual);
  out.sees = out.judged++ == 0 ? reference.threshold : std::max(out.sees, reference.threshold);
  if (loss > reference.threshold) {
    out.slow.push_back({figure, reference.usual, loss, values.size(), of_past});
  }
  return true;
}

std::vector<ProbedNode> Alike(const ProbedNode& suspect, const std::vector<ProbedNode>& nodes) {
  std::vector<ProbedNode> alike;
  for (const ProbedNode& node : nodes) {
    if (node.hardware == suspect.hardware) alike.push_back(node);
  }
  return alike;
}

}  // namespace

ProbeJudgement JudgeProbe(const ProbedNode& suspect, const std::vector<ProbedNode>& peers,
                          const std::vector<ProbedNode>& past, const ProbeLimits& limits) {
  ProbeJudgement out;
  const std::vector<ProbedNode> alike = Alike(suspect, peers);
  const std::vector<ProbedNode> before = Alike(suspect, past);
  out.faults = suspect.faults;
  JudgeDigests(suspect, alike, limits, out);
  for (const ProbeFigure& figure : suspect.figures) {
    if (!Judged(figure)) continue;
    JudgeFigure(figure, ValuesOf(figure, alike), false, limits, out) ||
        JudgeFigure(figure, ValuesOf(figure, before), true, limits, out);
  }
  std::stable_sort(out.slow.begin(), out.slow.end(),
                   [](const SlowFigure& a, const SlowFigure& b) { return a.loss > b.loss; });
  using State = ProbeJudgement::State;
  out.state = !out.faults.empty() ? State::kFaulty
              : !out.slow.empty() ? State::kSlow
              : out.judged > 0    ? State::kClean
                                  : State::kUnknown;
  if (out.state == State::kUnknown) {
    out.why_unknown = "too few peers of the same hardware and too few earlier runs";
  }
  return out;
}

}  // namespace fathom::diagnosis
