#include "collector/cli/run/run_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <utime.h>

#include <fstream>

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() {
    std::string name = testing::TempDir() + "/run_folder_XXXXXX";
    parent_ = mkdtemp(name.data());
  }
  ~RunFolderTest() override { fs::remove_all(parent_); }

  // A folder that looks an hour old.
  void Age(const fs::path& folder) const {
    const utimbuf times{std::time(nullptr) - 3600, std::time(nullptr) - 3600};
    ASSERT_EQ(utime(folder.c_str(), &times), 0);
  }

  fs::path parent_;
};

TEST_F(RunFolderTest, IsPrivateAndGoesWithAllThatIsInIt) {
  fs::path path;
  {
    const auto folder = RunFolder::Make(parent_);
    ASSERT_TRUE(folder.ok()) << folder.status();
    path = (*folder)->path();
    struct stat info {};
    ASSERT_EQ(stat((*folder)->rings().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    std::ofstream((*folder)->rings() / "1-0.ring") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(RunFolderTest, SweepsWhatAKilledRunLeftAndNothingElse) {
  const fs::path left = parent_ / "fathom-run-1-abcdef";
  const fs::path fresh = parent_ / "fathom-run-2-abcdef";
  const fs::path foreign = parent_ / "fathom";
  for (const fs::path& each : {left, fresh, foreign}) fs::create_directories(each / "rings");
  const auto living = RunFolder::Make(parent_);
  for (const fs::path& each : {left, foreign, (*living)->path()}) Age(each);
  EXPECT_EQ(SweepRunFolders(parent_), 1);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(fs::exists((*living)->rings()));
}

TEST_F(RunFolderTest, SaysWhereItCouldNotBeMade) {
  const auto folder = RunFolder::Make(parent_ / "absent");
  ASSERT_TRUE(absl::IsUnavailable(folder.status()));
  EXPECT_NE(std::string(folder.status().message()).find("absent"), std::string::npos);
}

}  // namespace
}  // namespace fathom::cli
