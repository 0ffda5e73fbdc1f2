// Checkpoints in a folder: their order, and those that are not whole.
#include "collector/cli/recover/checkpoints.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace fathom::cli {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

struct CheckpointsTest : testing::Test {
  void SetUp() override {
    folder = fs::temp_directory_path() / ("checkpoints_" + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  void Write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  std::vector<Checkpoint> Found() const {
    auto found = FindCheckpoints(folder);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : std::vector<Checkpoint>();
  }

  fs::path folder;
};

const std::string kZip = std::string("PK\x03\x04", 4) + std::string(100, 'x');
const std::string kZipEnd = std::string("PK\x05\x06", 4) + std::string(18, '\0');

TEST_F(CheckpointsTest, TheNewestStepComesFirstWhateverTheNames) {
  Write("step-900/model.pt", kZip + kZipEnd);
  Write("checkpoint-1200/model.pt", kZip + kZipEnd);
  Write("iter_0001000.pt", kZip + kZipEnd);
  Write("latest", "checkpoint-1200");
  Write("notes.txt", "x");
  const auto found = Found();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].step, 1200);
  EXPECT_EQ(found[1].step, 1000);
  EXPECT_EQ(found[2].step, 900);
  for (const Checkpoint& each : found) {
    EXPECT_EQ(each.torn, "");
    EXPECT_GT(each.written_ns, 0);
  }
}

TEST_F(CheckpointsTest, WhatWasCutIsTorn) {
  Write("step-2.pt", kZip);
  Write("step-1.pt", kZip + kZipEnd);
  EXPECT_THAT(Found()[0].torn, HasSubstr("was cut"));
  EXPECT_EQ(Found()[1].torn, "");
}

TEST_F(CheckpointsTest, ADistributedOneWithoutItsMetadataIsTorn) {
  Write("step-2/__0_0.distcp", kZip + kZipEnd);
  EXPECT_THAT(Found()[0].torn, HasSubstr(".metadata"));
  Write("step-2/.metadata", "x");
  EXPECT_EQ(Found()[0].torn, "");
}

TEST_F(CheckpointsTest, EmptyAndHalfWrittenOnesAreTorn) {
  Write("step-3/model.pt", "");
  Write("step-2/model.pt.tmp", "x");
  fs::create_directories(folder / "step-1");
  Write("tmp_step-0/model.pt", "x");
  const auto found = Found();
  ASSERT_EQ(found.size(), 4u);
  EXPECT_THAT(found[0].torn, HasSubstr("is empty"));
  EXPECT_THAT(found[1].torn, HasSubstr("half written"));
  EXPECT_THAT(found[2].torn, HasSubstr("nothing is in it"));
  EXPECT_THAT(found[3].torn, HasSubstr("half written"));
}

TEST_F(CheckpointsTest, TheStepIsNotTheVersionOfTheModel) {
  const std::vector<std::pair<const char*, std::int64_t>> names = {
      {"llama-3.1-8b-step-1200", 1200},
      {"llama-3.1-8b-step-1300.pt", 1300},
      {"epoch=3-step=1400.ckpt", 1400},
      {"step-1500-loss-0.25.ckpt", 1500},
      {"v2.0.checkpoint-1600.tar.gz", 1600},
      {"global_step1700", 1700},
      {"model.1800", 1800},
      {"step-1900.pt.tmp", 1900}};
  for (const auto& [name, step] : names) Write(name, "x");
  for (const char* none : {"llama-3.1-8b", "llama-3.1", "loss-0.25.ckpt", "latest", "footsteps"}) {
    Write(none, "x");
  }
  const auto found = Found();
  ASSERT_EQ(found.size(), names.size());
  for (const Checkpoint& each : found) {
    const std::string name = fs::path(each.path).filename();
    const auto at = std::find_if(names.begin(), names.end(),
                                 [&](const auto& known) { return name == known.first; });
    ASSERT_NE(at, names.end()) << name;
    EXPECT_EQ(each.step, at->second) << name;
  }
}

// The walk keeps a descriptor open for each level, so that without any left it fails for root too.
TEST_F(CheckpointsTest, WhatCannotBeReadWholeIsTornAndNoException) {
  Write("step-1/model.pt", kZip + kZipEnd);
  fs::path deep = folder / "step-2";
  for (int level = 0; level < 40; ++level) deep /= "d";
  fs::create_directories(deep);
  Write("step-2/model.pt", kZip + kZipEnd);
  const int next = open("/dev/null", O_RDONLY);
  close(next);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{static_cast<rlim_t>(next) + 8, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto found = FindCheckpoints(folder);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 2u);
  EXPECT_THAT((*found)[0].torn, HasSubstr("cannot be read whole"));
  EXPECT_EQ((*found)[1].torn, "");
}

TEST_F(CheckpointsTest, AFolderThatIsNotThereIsSaid) {
  EXPECT_TRUE(absl::IsNotFound(FindCheckpoints(folder / "nowhere").status()));
}

}  // namespace
}  // namespace fathom::cli
