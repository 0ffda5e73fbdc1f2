#include "collector/cli/run/installation.h"

#include <gtest/gtest.h>

#include <fstream>

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

class InstallationTest : public testing::Test {
 protected:
  InstallationTest() {
    std::string name = testing::TempDir() + "/installation_XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~InstallationTest() override { fs::remove_all(root_); }

  void Touch(const std::string& file) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << "x";
  }

  fs::path root_;
};

TEST_F(InstallationTest, FindsPartsBesideABuild) {
  for (const char* file :
       {"fathomd", "fathom-collector", "libfathom.so", "fathom_site/sitecustomize.py"}) {
    Touch(file);
  }
  const Installation found = FindInstallation(root_ / "fathom");
  EXPECT_EQ(found.agent, root_ / "fathomd");
  EXPECT_EQ(found.collector, root_ / "fathom-collector");
  EXPECT_EQ(found.tracer, root_ / "libfathom.so");
  EXPECT_EQ(found.site, root_ / "fathom_site");
}

TEST_F(InstallationTest, FindsPartsUnderAPrefix) {
  for (const char* file :
       {"bin/fathomd", "lib/libfathom.so", "share/fathom/site/sitecustomize.py"}) {
    Touch(file);
  }
  const Installation found = FindInstallation(root_ / "bin/fathom");
  EXPECT_EQ(found.agent, root_ / "bin/fathomd");
  EXPECT_EQ(found.tracer, root_ / "lib/libfathom.so");
  EXPECT_EQ(found.site, root_ / "share/fathom/site");
  EXPECT_TRUE(found.collector.empty());
}

}  // namespace
}  // namespace fathom::cli
