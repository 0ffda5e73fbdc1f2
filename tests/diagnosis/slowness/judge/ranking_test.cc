// Who is how suspicious, as a table of cases: what each rank showed, and the list that must come
// out.
#include "diagnosis/slowness/judge/ranking.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kIterations = 10, kBaseline = 8;

// Slow and regular iterations in which each of 8 ranks on two nodes showed; `judged`: of how many
// slow ones there are rows.
struct RankingCase {
  const char* name;
  std::vector<std::size_t> shows;
  std::vector<std::size_t> baseline_shows;
  std::size_t judged;
  std::vector<const char*> ranked;  // from the first on; the list may go on, unless it is empty
};

const RankingCase kCases[] = {
    {"Positive", {0, 0, 10, 0, 0, 0, 0, 0}, {}, 10, {"rank 2 on a"}},
    {"TwoCulprits", {0, 0, 10, 0, 0, 9, 0, 0}, {}, 10, {"rank 2 on a", "rank 5 on b"}},
    {"NearMissShowsHalfTheTime", {0, 0, 5, 0, 0, 0, 0, 0}, {}, 10, {}},
    {"MissingSignalRowsOfOneIteration", {0, 0, 1, 0, 0, 0, 0, 0}, {}, 1, {}},
    {"ConfuserShowedAsOftenBefore", {0, 0, 9, 0, 0, 0, 0, 0}, {0, 0, 8, 0, 0, 0, 0, 0}, 10, {}},
    {"ConfuserAllRanksOfOneNode", {10, 10, 10, 10, 0, 0, 0, 0}, {}, 10, {"node a"}},
    {"TwoOfANodeAreNotTheNode", {10, 10, 0, 0, 0, 0, 0, 0}, {}, 10, {"rank 0 on a", "rank 1 on a"}},
    {"Healthy", {1, 0, 2, 1, 0, 1, 0, 1}, {1, 0, 1, 1, 0, 0, 1, 1}, 10, {}},
};

JobView ViewOf() {
  JobView view;
  for (std::uint32_t r = 0; r < 8; ++r) {
    RankFacts facts;
    facts.rank = RankId(r);
    facts.node = std::string(1, r < 4 ? 'a' : 'b');
    view.ranks.push_back(facts);
  }
  view.groups = {{GroupId(7), "0", "", 2, {RankId(1), RankId(5)}}};
  return view;
}

Ledger LedgerOf(const RankingCase& test) {
  Ledger ledger;
  ledger.iterations = test.judged;
  ledger.baseline_iterations = kBaseline;
  ledger.excess = 0.1;
  ledger.expected = 1;
  for (std::uint32_t r = 0; r < test.shows.size(); ++r) {
    RankAccount account;
    account.rank = RankId(r);
    account.judged = test.judged;
    account.shows = test.shows[r];
    if (!test.baseline_shows.empty()) account.baseline_shows = test.baseline_shows[r];
    account.share.assign(test.judged, static_cast<double>(test.shows[r]) / kIterations);
    ledger.ranks.push_back(account);
  }
  return ledger;
}

std::vector<std::string> Names(const std::vector<RankedDevice>& ranking) {
  std::vector<std::string> names;
  for (const RankedDevice& device : ranking) names.push_back(DeviceInWords(device));
  return names;
}

class RankingTest : public ::testing::TestWithParam<RankingCase> {};

TEST_P(RankingTest, ListsTheDevicesThatTheEvidenceSpeaksAgainst) {
  const auto ranking = RankDevices(ViewOf(), LedgerOf(GetParam()), {});
  std::vector<std::string> names = Names(ranking);
  const auto& wanted = GetParam().ranked;
  if (wanted.empty()) {
    EXPECT_THAT(names, ::testing::IsEmpty());
    return;
  }
  ASSERT_GE(names.size(), wanted.size());
  names.resize(wanted.size());
  EXPECT_THAT(names, ::testing::ElementsAreArray(wanted));
  EXPECT_GT(ranking.front().posterior_odds, 100);
}

INSTANTIATE_TEST_SUITE_P(All, RankingTest, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(RankingOfGroupsTest, ASlowCommunicatorIsADeviceToo) {
  Ledger ledger = LedgerOf(kCases[7]);
  ledger.groups.push_back({GroupId(7), std::vector<double>(kIterations, 0.09), kIterations, 0.09});
  const auto ranking = RankDevices(ViewOf(), ledger, {});
  ASSERT_EQ(ranking.size(), 1u);
  EXPECT_EQ(DeviceInWords(ranking[0]), "the communicator of ranks 1 and 5");
  EXPECT_NEAR(ranking[0].share, 0.9, 1e-9);
}

}  // namespace
}  // namespace fathom::diagnosis
