// Dumps of real jobs whose fault is known: every hang names the right rank and cause, with what
// lies beside the dumps and, as far as dumps alone can tell, without it; healthy ends stay silent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collector/import/recognise.h"
#include "diagnosis/engine/diagnose.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;
using diagnosis::Grade;
using Json = nlohmann::json;

fs::path DataDir() {
  const char* set = std::getenv("FATHOM_DATA_DIR");
  if (set != nullptr) return set;
  const char* source = std::getenv("FATHOM_SOURCE_DIR");
  return fs::path(source != nullptr ? source : ".") / "../shared/data";
}

diagnosis::Diagnosis Judge(const fs::path& folder) {
  const auto recording = ReadRecording({folder.string()}, "flight-recorder", ImportLimits{});
  EXPECT_TRUE(recording.ok()) << recording.status();
  if (!recording.ok()) return {};
  const diagnosis::DiagnosisConfig config;
  return diagnosis::Diagnose(recording->view, diagnosis::Watch(recording->view, config), config);
}

std::vector<int> Culprits(const diagnosis::Diagnosis& diagnosis) {
  std::vector<int> ranks;
  for (const auto& verdict : diagnosis.verdicts) {
    if (verdict.entity.type == diagnosis::EntityType::kGroup) continue;
    for (const RankId rank : verdict.entity.ranks) ranks.push_back(static_cast<int>(rank.value));
  }
  return ranks;
}

std::string CauseIn(const std::string& truth) {
  if (truth == "comm_hang") return "communication_hang";
  return truth == "noncomm_hang" ? "noncommunication_hang" : truth;
}

Json Truth(const fs::path& folder) {
  std::ifstream file(folder / "truth.json");
  return Json::parse(file);
}

std::vector<fs::path> Jobs() {
  std::vector<fs::path> jobs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(DataDir() / "torch_gloo", error)) {
    if (fs::exists(entry.path() / "flight_recorder")) jobs.push_back(entry.path());
  }
  return jobs;
}

bool IsHang(const Json& truth) {
  return truth["outcome"] == "hung" || truth["verdict"] == "process_dead";
}

TEST(HangTruth, LockedInterpretersAreBothNamedAndNobodyElse) {
  const fs::path folder = DataDir() / "flight_recorder/lock_gil";
  if (!fs::exists(folder)) GTEST_SKIP() << "no recordings in " << folder;
  const auto diagnosis = Judge(folder);
  EXPECT_THAT(Culprits(diagnosis), ::testing::ElementsAre(9, 14));
  EXPECT_EQ(diagnosis.verdicts[0].cause, diagnosis::Cause::kNonCommunicationHang);
  EXPECT_EQ(diagnosis.verdicts[0].victims.size(), 14U);
}

TEST(HangTruth, HangsNameRankAndCause) {
  if (Jobs().empty()) GTEST_SKIP() << "no recordings in " << DataDir() / "torch_gloo";
  for (const fs::path& job : Jobs()) {
    const Json truth = Truth(job);
    if (!IsHang(truth)) continue;
    const auto diagnosis = Judge(job);
    ASSERT_FALSE(diagnosis.verdicts.empty()) << job;
    EXPECT_EQ(Culprits(diagnosis), truth["culprit_ranks"].get<std::vector<int>>()) << job;
    EXPECT_EQ(std::string(ToString(diagnosis.verdicts[0].cause)),
              CauseIn(truth["verdict"].get<std::string>()))
        << job;
    EXPECT_GE(diagnosis.verdicts[0].grade, Grade::kSupported) << job;
  }
}

TEST(HangTruth, DumpsAloneNeverNameAnInnocentRank) {
  if (Jobs().empty()) GTEST_SKIP() << "no recordings in " << DataDir() / "torch_gloo";
  int named = 0;
  for (const fs::path& job : Jobs()) {
    const Json truth = Truth(job);
    if (!IsHang(truth)) continue;
    const auto culprits = Culprits(Judge(job / "flight_recorder"));
    if (culprits.empty()) continue;  // abstained: the dumps do not hold it
    EXPECT_EQ(culprits, truth["culprit_ranks"].get<std::vector<int>>()) << job;
    ++named;
  }
  EXPECT_GE(named, 4);
}

TEST(HangTruth, JobsThatEndedWellStaySilent) {
  if (Jobs().empty()) GTEST_SKIP() << "no recordings in " << DataDir() / "torch_gloo";
  for (const fs::path& job : Jobs()) {
    if (IsHang(Truth(job))) continue;
    EXPECT_THAT(Judge(job / "flight_recorder").verdicts, ::testing::IsEmpty()) << job;
  }
}

// Any one dump lost: the culprit may become untold, but nobody innocent is convicted.
TEST(HangTruth, WithOneDumpMissingNobodyElseIsConvicted) {
  const fs::path folder = DataDir() / "flight_recorder/lock_gil";
  if (!fs::exists(folder)) GTEST_SKIP() << "no recordings in " << folder;
  for (int lost = 0; lost < 16; ++lost) {
    std::vector<std::string> paths;
    for (int rank = 0; rank < 16; ++rank) {
      if (rank != lost) paths.push_back((folder / ("_dump_" + std::to_string(rank))).string());
    }
    const auto recording = ReadRecording(paths, "auto", ImportLimits{});
    ASSERT_TRUE(recording.ok()) << recording.status();
    const diagnosis::DiagnosisConfig config;
    const auto diagnosis =
        diagnosis::Diagnose(recording->view, diagnosis::Watch(recording->view, config), config);
    for (const int rank : Culprits(diagnosis)) EXPECT_THAT(rank, ::testing::AnyOf(9, 14)) << lost;
  }
}

}  // namespace
}  // namespace fathom::collector
