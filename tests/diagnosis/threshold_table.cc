// What is said of the scenarios where one threshold is moved:
//
//   threshold_table NAME=VALUE…      one line each: NAME VALUE right abstained wrong changed
//
// Used by tests/truth/sensitivity; the first line, "default", is without a change. Right: what the
// scenario expects, at any time of the run, and nothing else. Abstained: something expected was not
// said, and nothing else was. Wrong: all else. Changed: scenarios of which the verdicts differ from
// those of the defaults. Each scenario is played with its first seed and looked at after every
// third iteration.
#include <cstddef>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/config/settings.h"
#include "collector/config/thresholds.h"
#include "tests/diagnosis/scenario.h"

namespace fathom::diagnosis::testing {
namespace {

using Said = std::set<std::pair<std::string, std::string>>;  // name and grade

struct Played {
  Scenario scenario;
  JobView view;
  Said usual;
};

struct Tally {
  int right = 0, abstained = 0, wrong = 0, changed = 0;
};

constexpr std::size_t kEvery = 3;

Said SaidOf(const Played& played, const DiagnosisConfig& config) {
  Said said;
  for (const Verdict& verdict : Judge(played.scenario, played.view, config, kEvery).ever) {
    said.emplace(NameOf(verdict), std::string(ToString(verdict.grade)));
  }
  return said;
}

void Count(const Played& played, const Said& said, Tally& tally) {
  std::set<std::string> expected, named;
  for (const ExpectedVerdict& verdict : played.scenario.verdicts) expected.insert(verdict.name);
  bool wrong = false;
  for (const auto& [name, grade] : said) {
    named.insert(name);
    wrong = wrong || !expected.contains(name);
  }
  ++(wrong ? tally.wrong : named == expected ? tally.right : tally.abstained);
  tally.changed += said == played.usual ? 0 : 1;
}

void Print(const std::string& name, const std::string& value, const Tally& tally) {
  std::printf("%s %s %d %d %d %d\n", name.c_str(), value.c_str(), tally.right, tally.abstained,
              tally.wrong, tally.changed);
  std::fflush(stdout);
}

// False: there is no such threshold, or no such value of it.
bool PrintMoved(const std::vector<Played>& all, std::string_view argument) {
  const std::size_t at = argument.find('=');
  const std::string name(argument.substr(0, at));
  const std::string value(at == argument.npos ? "" : argument.substr(at + 1));
  collector::CollectorConfig config;
  absl::Status set = collector::Apply({{"diagnosis." + name, value}}, "command line", config);
  if (set.ok()) set = collector::CheckThresholds(config);
  if (!set.ok()) {
    std::fprintf(stderr, "%s\n", std::string(set.message()).c_str());
    return false;
  }
  Tally tally;
  for (const Played& played : all) Count(played, SaidOf(played, config.diagnosis), tally);
  Print(name, value, tally);
  return true;
}

int Run(int count, char** arguments) {
  std::vector<Played> all;
  Tally tally;
  for (const std::string& file : ScenarioFiles(FATHOM_SCENARIOS)) {
    Played played{LoadScenario(file), {}, {}};
    played.view = ViewOf(played.scenario, played.scenario.job);
    played.usual = SaidOf(played, {});
    Count(played, played.usual, tally);
    all.push_back(std::move(played));
  }
  Print("default", "-", tally);
  bool fine = true;
  for (int i = 1; i < count; ++i) fine = PrintMoved(all, arguments[i]) && fine;
  return fine ? 0 : 1;
}

}  // namespace
}  // namespace fathom::diagnosis::testing

int main(int count, char** arguments) { return fathom::diagnosis::testing::Run(count, arguments); }
