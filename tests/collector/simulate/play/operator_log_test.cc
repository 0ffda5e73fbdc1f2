// The labelled log of ops: nothing is abnormal before a fault, and afterwards those who wait are.
#include "collector/simulate/play/operator_log.h"

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace fathom::simulate {
namespace {

constexpr int kOnset = 3;

// Abnormal ops, by iteration and rank.
std::map<std::pair<int, int>, int> AbnormalOf(const Scenario& job) {
  std::map<std::pair<int, int>, int> abnormal;
  WriteOperators(job, 16, [&](const std::string& line) {
    std::istringstream cells(line);
    std::vector<std::string> values;
    for (std::string cell; std::getline(cells, cell, ',');) values.push_back(cell);
    ASSERT_EQ(values.size(), 9u) << line;
    if (values[0] == "iteration") return;
    abnormal[{std::stoi(values[0]), std::stoi(values[2])}] += std::stoi(values[8]);
  });
  return abnormal;
}

TEST(OperatorLogTest, TensorPeersOfASlowGpuWaitAndItselfDoesNot) {
  Scenario job;
  job.plan = {.tensor = 4, .data = 4};
  job.iterations = kOnset + 2;
  job.faults = {{.kind = FaultKind::kSlowGpu, .rank = 5, .factor = 1.5, .from = kOnset}};
  const auto abnormal = AbnormalOf(job);
  ASSERT_EQ(abnormal.size(), 16u * (kOnset + 2));
  for (const auto& [at, count] : abnormal) {
    if (at.first < kOnset) {
      EXPECT_EQ(count, 0) << "iteration " << at.first << ", rank " << at.second;
    }
  }
  EXPECT_GT(abnormal.at({kOnset, 4}), 10) << "waits for it in each layer";
  EXPECT_LT(abnormal.at({kOnset, 5}), abnormal.at({kOnset, 4}) / 4) << "finds the others waiting";
}

}  // namespace
}  // namespace fathom::simulate
