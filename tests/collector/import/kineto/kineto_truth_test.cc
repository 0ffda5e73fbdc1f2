// Recordings of real jobs with a known fault, through importer, Watch and Diagnose: right,
// abstained or wrong. Prints the table; wrong fails. Tests skip where the recordings are absent.
//
// right: the first verdict names the culprit ranks and a cause that the truth allows, or none where
// there is none to name. class: what can be told without a signal that no trace has. abstained: no
// verdict though there is a fault, or a verdict of grade unknown or hypothesis that accuses the
// right rank. All else is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "collector/import/episode.h"
#include "collector/import/recognise.h"
#include "collector/import/short_recording.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/watch/watch.h"

namespace fathom::collector {
namespace {

std::filesystem::path DataFolder() {
  const char* given = std::getenv("FATHOM_DATA_DIR");
  if (given != nullptr) return std::filesystem::path(given) / "torch_gloo";
  const char* source = std::getenv("FATHOM_SOURCE_DIR");
  return std::filesystem::path(source == nullptr ? "." : source) / "../shared/data/torch_gloo";
}

std::vector<std::string> TimedRuns() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(DataFolder(), error)) {
    if (std::filesystem::exists(entry.path() / "kineto")) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct Truth {
  std::set<std::uint32_t> culprits;
  std::set<std::string> causes;  // empty: nothing to name
  bool imbalance = false;
};

Truth TruthOf(const std::filesystem::path& folder) {
  const auto json = nlohmann::json::parse(std::ifstream(folder / "truth.json"));
  Truth truth;
  for (const auto& rank : json["culprit_ranks"]) truth.culprits.insert(rank.get<std::uint32_t>());
  truth.causes.insert(json["verdict"].get<std::string>());
  if (json.contains("verdict_also_right")) {
    const auto& also = json["verdict_also_right"];
    if (also.is_string()) truth.causes.insert(also.get<std::string>());
    for (const auto& cause : also.is_array() ? also : nlohmann::json::array()) {
      truth.causes.insert(cause.get<std::string>());
    }
  }
  truth.causes.erase("none");
  truth.imbalance = truth.causes.contains("imbalance");
  return truth;
}

std::string Describe(const diagnosis::Verdict& verdict) {
  std::string text(ToString(verdict.grade));
  text += ' ';
  text += ToString(verdict.cause);
  text += ' ';
  text += ToString(verdict.entity.type);
  for (const RankId rank : verdict.entity.ranks) {
    text += ' ';
    text += std::to_string(rank.value);
  }
  return text;
}

std::string Judge(const diagnosis::Diagnosis& diagnosis, const Truth& truth) {
  if (diagnosis.verdicts.empty()) return truth.causes.empty() ? "right" : "abstained";
  const diagnosis::Verdict& first = diagnosis.verdicts.front();
  std::set<std::uint32_t> named;
  for (const RankId rank : first.entity.ranks) named.insert(rank.value);
  const bool cause = truth.causes.contains(std::string(ToString(first.cause)));
  if (truth.imbalance) {
    const bool device = first.entity.type == diagnosis::EntityType::kRank;
    return cause && !device ? "right" : "WRONG";
  }
  // Without the sockets of the ranks nothing tells which link: the communication of the group it
  // lies in is the right class.
  if (truth.causes.contains("link_slow") && first.cause == diagnosis::Cause::kCommunicationSlow &&
      first.entity.type == diagnosis::EntityType::kGroup &&
      std::includes(named.begin(), named.end(), truth.culprits.begin(), truth.culprits.end())) {
    return "class";
  }
  if (named != truth.culprits || truth.causes.empty()) return "WRONG";
  if (cause) return "right";
  return first.cause == diagnosis::Cause::kUnknown ? "abstained" : "WRONG";
}

// The recording as if the profiler had been started in the first slow iteration.
void CutBefore(Iteration first, diagnosis::JobView& view) {
  std::erase_if(view.window, [&](const auto& it) { return it.index < first; });
  for (auto& [rank, rows] : view.rows) {
    std::erase_if(rows.ops, [&](const auto& op) { return op.iteration < first; });
  }
}

diagnosis::Diagnosis DiagnosisOf(diagnosis::JobView& view, diagnosis::Suspicion& suspicion) {
  const auto config = ConfigForRecording({}, view.window.size(), view.world_size);
  view.episode = FindEpisode(view, config);
  suspicion = diagnosis::Watch(view, config);
  return diagnosis::Diagnose(view, suspicion, config);
}

class Truths : public ::testing::TestWithParam<std::string> {};

TEST_P(Truths, AreNotContradicted) {
  const auto folder = DataFolder() / GetParam();
  auto recording = ReadRecording({folder.string()}, "auto", {});
  ASSERT_TRUE(recording.ok()) << recording.status();
  auto& view = recording->view;
  ASSERT_FALSE(view.window.empty());
  diagnosis::Suspicion suspicion;
  const diagnosis::Diagnosis diagnosis = DiagnosisOf(view, suspicion);
  const std::string result = Judge(diagnosis, TruthOf(folder));
  const std::string said = diagnosis.verdicts.empty() ? "-" : Describe(diagnosis.verdicts.front());
  std::printf("%-26s %-10s %4.0f -> %4.0f ms, onset %3ld  %s\n", GetParam().c_str(), result.c_str(),
              suspicion.expected.Millis(), suspicion.measured.Millis(),
              static_cast<long>(suspicion.onset.value), said.c_str());
  for (const auto& abstained : diagnosis.abstained) {
    std::printf("%38s cannot tell: %s (missing: %s)\n", "", abstained.question.c_str(),
                abstained.missing.c_str());
  }
  for (const auto& note : recording->notes) std::printf("%38s note: %s\n", "", note.c_str());
  EXPECT_NE(result, "WRONG") << said;
}

// Nothing before is recorded, so its peers must tell who it is; a stage of a pipeline has one peer
// or none, and there a lead is all there can be.
TEST_P(Truths, AreToldByPeersWhereTheRecordingBeganAfterTheFault) {
  const auto folder = DataFolder() / GetParam();
  const auto json = nlohmann::json::parse(std::ifstream(folder / "truth.json"));
  if (!json.contains("first_faulty_iteration") || json["first_faulty_iteration"].is_null()) {
    GTEST_SKIP() << "no fault, or one from the start";
  }
  auto recording = ReadRecording({folder.string()}, "auto", {});
  ASSERT_TRUE(recording.ok()) << recording.status();
  CutBefore(Iteration(json["first_faulty_iteration"].get<std::int64_t>()), recording->view);
  diagnosis::Suspicion suspicion;
  const diagnosis::Diagnosis diagnosis = DiagnosisOf(recording->view, suspicion);
  const Truth truth = TruthOf(folder);
  const bool network = truth.causes.contains("link_slow");
  EXPECT_EQ(diagnosis.verdicts.size(), network ? 0U : 1U) << "what a network was is not known";
  for (const diagnosis::Verdict& verdict : diagnosis.verdicts) {
    EXPECT_EQ(Convicts(verdict), GetParam() != "pipeline") << Describe(verdict);
    std::set<std::uint32_t> named;
    for (const RankId rank : verdict.entity.ranks) named.insert(rank.value);
    EXPECT_EQ(named, truth.culprits) << Describe(verdict);
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, Truths, ::testing::ValuesIn(TimedRuns()),
                         [](const auto& param) { return param.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Truths);

TEST(Recordings, ArePresentOrSaidToBeAbsent) {
  if (TimedRuns().empty()) GTEST_SKIP() << "no recordings in " << DataFolder();
  EXPECT_FALSE(TimedRuns().empty());
}

}  // namespace
}  // namespace fathom::collector
