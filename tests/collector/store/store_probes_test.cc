// What probes found is kept by node, bounded, and read after a restart.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "collector/store/store.h"
#include "fathom/v1/probe.pb.h"

namespace fathom::collector {
namespace {

struct StoreProbesTest : testing::Test {
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("store_probes_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    file = (folder / "store.db").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static v1::NodeProbe Run(const std::string& node, std::int64_t began) {
    v1::NodeProbe run;
    run.set_node(node);
    run.set_began_wall_ns(began);
    run.mutable_judgement()->set_state("clean");
    return run;
  }

  std::filesystem::path folder;
  std::string file;
};

TEST_F(StoreProbesTest, RunsComeBackTheNewestFirstAfterARestart) {
  {
    auto store = Store::Open(file);
    ASSERT_TRUE(store->SaveProbe(Run("a", 1)).ok());
    ASSERT_TRUE(store->SaveProbe(Run("b", 2)).ok());
    ASSERT_TRUE(store->SaveProbe(Run("a", 3)).ok());
  }
  auto store = Store::Open(file);
  EXPECT_EQ(store->degraded(), "");
  const auto of_a = store->Probes("a", 10);
  ASSERT_EQ(of_a.size(), 2u);
  EXPECT_EQ(of_a[0].began_wall_ns(), 3);
  EXPECT_EQ(of_a[0].judgement().state(), "clean");
  EXPECT_EQ(store->Probes("", 10).size(), 3u);
  EXPECT_EQ(store->Probes("", 1).size(), 1u);
  EXPECT_TRUE(store->Probes("c", 10).empty());
}

TEST_F(StoreProbesTest, OfANodeSoManyAreKept) {
  auto store = Store::Open(file);
  for (std::int64_t i = 0; i < Store::kMaxProbesOfNode + 5; ++i) {
    ASSERT_TRUE(store->SaveProbe(Run("a", i)).ok());
  }
  ASSERT_TRUE(store->SaveProbe(Run("b", 0)).ok());
  const auto kept = store->Probes("a", 1000);
  EXPECT_EQ(static_cast<std::int64_t>(kept.size()), Store::kMaxProbesOfNode);
  EXPECT_EQ(kept.back().began_wall_ns(), 5);
  EXPECT_EQ(store->Probes("b", 10).size(), 1u);
}

}  // namespace
}  // namespace fathom::collector
