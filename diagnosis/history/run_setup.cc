#include "diagnosis/history/run_setup.h"

#include <algorithm>
#include <array>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace fathom::diagnosis {
namespace {

constexpr char kNone[] = "none";
constexpr char kNodes[] = "nodes";
constexpr std::size_t kTold = 3;
constexpr std::size_t kLongestValue = 60;
// In this order changes are told; what is in no place comes before the nodes.
constexpr std::array<std::string_view, 11> kOrder = {"argument", "environment", "torch", "nccl",
                                                     "cuda",     "python",      "image", "revision",
                                                     "code",     "driver",      "kernel"};

std::size_t PlaceOf(std::string_view what) {
  const std::string_view kind = what.substr(0, what.find(' '));
  const auto at = std::find(kOrder.begin(), kOrder.end(), kind);
  return static_cast<std::size_t>(at - kOrder.begin()) + (what == kNodes);
}

const std::string& ValueIn(const SetupVariant& variant, const std::string& what) {
  static const std::string none = kNone;
  const auto at = variant.facts.find(what);
  return at == variant.facts.end() ? none : at->second;
}

// Value → nodes.
std::map<std::string, std::size_t> ValuesOf(const RunSetup& setup, const std::string& what) {
  std::map<std::string, std::size_t> values;
  for (const SetupVariant& variant : setup.variants) {
    values[ValueIn(variant, what)] += variant.nodes.size();
  }
  return values;
}

std::set<std::string> NamesOf(const RunSetup& setup) {
  std::set<std::string> names;
  for (const SetupVariant& variant : setup.variants) {
    for (const auto& [what, value] : variant.facts) names.insert(what);
  }
  return names;
}

using Valued = std::pair<const std::string, std::size_t>;

// Of the values that `other` lacks (of all where it lacks none), the one on most nodes.
const Valued& Leading(const std::map<std::string, std::size_t>& values,
                      const std::map<std::string, std::size_t>& other) {
  return *std::max_element(values.begin(), values.end(), [&](const Valued& a, const Valued& b) {
    return std::pair(!other.contains(a.first), a.second) <
           std::pair(!other.contains(b.first), b.second);
  });
}

bool SameKeys(const std::map<std::string, std::size_t>& a,
              const std::map<std::string, std::size_t>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Valued& x, const Valued& y) { return x.first == y.first; });
}

std::set<std::string> NodesOf(const RunSetup& setup) {
  std::set<std::string> nodes;
  for (const SetupVariant& variant : setup.variants) {
    nodes.insert(variant.nodes.begin(), variant.nodes.end());
  }
  return nodes;
}

bool IsUsual(const std::string& what, const RunSetup& before,
             const std::vector<RunSetup>& earlier) {
  return std::any_of(earlier.begin(), earlier.end(), [&](const RunSetup& run) {
    if (what == kNodes) return NodesOf(run) != NodesOf(before);
    return !SameKeys(ValuesOf(run, what), ValuesOf(before, what));
  });
}

std::string Some(std::vector<std::string> names) {
  constexpr std::size_t kMost = 3;
  const std::size_t more = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - more);
  std::string text = absl::StrJoin(names, ", ");
  if (more > 0) absl::StrAppend(&text, " and ", more, " more");
  return text;
}

void AddNodeChange(const RunSetup& before, const RunSetup& after,
                   std::vector<SetupChange>& changes) {
  const auto old = NodesOf(before), now = NodesOf(after);
  std::vector<std::string> left, joined;
  std::set_difference(old.begin(), old.end(), now.begin(), now.end(), std::back_inserter(left));
  std::set_difference(now.begin(), now.end(), old.begin(), old.end(), std::back_inserter(joined));
  if (left.empty() && joined.empty()) return;
  const auto text = [](const std::vector<std::string>& names) {
    return names.empty() ? std::string(kNone) : Some(names);
  };
  changes.push_back({kNodes, text(left), text(joined), joined.size(), now.size(), false});
}

std::string Short(const std::string& value) {
  if (value.empty()) return "set";
  if (value.size() <= kLongestValue) return value;
  return absl::StrCat(value.substr(0, kLongestValue), "…");
}

}  // namespace

std::size_t RunSetup::nodes() const {
  std::size_t count = 0;
  for (const SetupVariant& variant : variants) count += variant.nodes.size();
  return count;
}

std::vector<SetupChange> ChangesBetween(const RunSetup& before, const RunSetup& after,
                                        const std::vector<RunSetup>& earlier) {
  std::vector<SetupChange> changes;
  if (!before.known() || !after.known()) return changes;
  std::set<std::string> names = NamesOf(before);
  names.merge(NamesOf(after));
  for (const std::string& what : names) {
    const auto old = ValuesOf(before, what), now = ValuesOf(after, what);
    if (SameKeys(old, now)) continue;
    const Valued &from = Leading(old, now), &to = Leading(now, old);
    changes.push_back({what, from.first, to.first, to.second, after.nodes(), false});
  }
  AddNodeChange(before, after, changes);
  for (SetupChange& change : changes) change.usual = IsUsual(change.what, before, earlier);
  std::stable_sort(changes.begin(), changes.end(), [](const SetupChange& a, const SetupChange& b) {
    return std::pair(a.usual, PlaceOf(a.what)) < std::pair(b.usual, PlaceOf(b.what));
  });
  return changes;
}

std::string InWords(const SetupChange& change) {
  std::string text =
      absl::StrCat(change.what, " ", Short(change.before), " -> ", Short(change.after));
  if (change.what != kNodes && change.on < change.of) {
    absl::StrAppend(&text, " on ", change.on, " of ", change.of, " nodes");
  }
  return text;
}

std::string InWords(const std::vector<SetupChange>& changes) {
  std::vector<std::string> told;
  std::size_t more = 0;
  for (const SetupChange& change : changes) {
    if (change.usual) continue;
    told.size() < kTold ? told.push_back(InWords(change)) : static_cast<void>(++more);
  }
  std::string text = absl::StrJoin(told, "; ");
  if (more > 0) absl::StrAppend(&text, "; and ", more, " more");
  return text;
}

Owner OwnerOf(const SetupChange& change) {
  const std::string_view what = change.what;
  if (what.starts_with("argument") || what == "revision" || what == "code") {
    return Owner::kAlgorithm;
  }
  if (what == "driver" || what == "kernel" || what == "gpu" || what == kNodes) {
    return Owner::kOperations;
  }
  return Owner::kInfrastructure;
}

bool MayMeanMoreWork(const SetupChange& change) {
  constexpr std::array<std::string_view, 12> kWords = {"batch", "seq",   "length", "hidden",
                                                       "layer", "width", "head",   "model",
                                                       "size",  "accum", "micro",  "expert"};
  if (!change.what.starts_with("argument")) return false;
  const std::string what = absl::AsciiStrToLower(change.what);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return what.find(word) != std::string::npos; });
}

}  // namespace fathom::diagnosis
