// A scenario: a job to play and what diagnosis must and must not say of it, as a YAML file.
//
// Files lie in tests/diagnosis/scenarios/<rule>/<case>.yaml; scenarios/README.md has the fields.
// An unknown field is an error: a test that silently expects nothing cannot fail.
#ifndef FATHOM_TESTS_DIAGNOSIS_SCENARIO_H_
#define FATHOM_TESTS_DIAGNOSIS_SCENARIO_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/diagnosis/job_spec.h"
#include "tests/diagnosis/live_session.h"

namespace fathom::diagnosis::testing {

// A verdict that must be there at the end. Fields that are not set are not looked at.
struct ExpectedVerdict {
  std::string name;  // as NameOf() gives it: "host_slow 2"
  std::string grade, owner, problem_class;
  std::optional<std::vector<std::uint32_t>> victims;
  std::optional<int> since, since_within;
  std::vector<std::string> says;  // parts of the sentence
  std::optional<double> slowdown_least, slowdown_most;
};

struct Scenario {
  std::string file;
  JobSpec job;
  std::uint64_t seeds = 3;  // played with seeds seed … seed + seeds − 1
  std::vector<std::string> signals_off;
  std::vector<std::uint32_t> rows_withheld;     // ranks whose rows never come
  std::map<std::uint32_t, int> rows_begin;      // first iteration of which a rank's rows come
  std::map<std::uint32_t, int> recording_ends;  // iterations that a rank's recording holds
  std::vector<std::uint32_t> unreachable;       // ranks whose agent is out of reach
  bool offline = false;                         // Diagnose() once, at the end, with all rows
  std::vector<ExpectedVerdict> verdicts;        // exactly these, ever; none: silence
  std::vector<std::string> abstained;           // parts of what must be said to be missing
  std::optional<bool> slow, settled;            // of the last Watch()
};

// Throws YAML::Exception or std::runtime_error on a file that is not a scenario.
Scenario LoadScenario(const std::string& path);

// The job as played, without what the scenario withholds.
JobView ViewOf(const Scenario& scenario, const JobSpec& job);

// What is said of it live, looked at after every so many iterations, or offline.
LiveOutcome Judge(const Scenario& scenario, const JobView& view, const DiagnosisConfig& config,
                  std::size_t every = 1);

// All scenario files below the folder, sorted.
std::vector<std::string> ScenarioFiles(const std::string& folder);

}  // namespace fathom::diagnosis::testing

#endif  // FATHOM_TESTS_DIAGNOSIS_SCENARIO_H_
