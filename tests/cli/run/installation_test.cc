#include "collector/cli/run/installation.h"

#include <dlfcn.h>
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

  // What daemon/tracer/preload makes beside `library`.
  void Place(const std::string& library, const std::string& at) const {
    const fs::path folder = (root_ / library).parent_path() / "libfathom" / at;
    fs::create_directories(folder);
    fs::create_symlink(root_ / library, folder / "libfathom.so");
  }

  fs::path root_;
};

TEST_F(InstallationTest, FindsPartsBesideABuild) {
  for (const char* file :
       {"fathomd", "fathom-collector", "libfathom.so", "fathom_site/sitecustomize.py"}) {
    Touch(file);
  }
  const Installation found = FindInstallation(root_ / "fathom", "lib64");
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
  const Installation found = FindInstallation(root_ / "bin/fathom", "lib64");
  EXPECT_EQ(found.agent, root_ / "bin/fathomd");
  EXPECT_EQ(found.tracer, root_ / "lib/libfathom.so");
  EXPECT_EQ(found.site, root_ / "share/fathom/site");
  EXPECT_TRUE(found.collector.empty());
  EXPECT_EQ(found.preload, found.tracer) << "there is no folder for $LIB";
}

TEST_F(InstallationTest, NamesTheLoadersFolderOnlyWhereItHoldsTheTracer) {
  Touch("lib/libfathom.so");
  Place("lib/libfathom.so", "lib64");
  Touch("lib/libfathom/lib/libfathom.so");  // the one for 32-bit processes
  const auto preload = [&](const char* folder) {
    return FindInstallation(root_ / "bin/fathom", folder).preload;
  };
  EXPECT_EQ(preload("lib64"), root_ / "lib/libfathom/$LIB/libfathom.so");
  EXPECT_EQ(preload("lib"), root_ / "lib/libfathom.so") << "another library";
  EXPECT_EQ(preload("lib/x86_64-linux-gnu"), root_ / "lib/libfathom.so") << "nothing";
  EXPECT_EQ(preload(""), root_ / "lib/libfathom.so") << "unknown";
}

TEST_F(InstallationTest, KnowsWhatTheLoaderPutsForLib) {
  Dl_info libm{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "cbrt"), &libm), 0);
  const fs::path place = root_ / LoaderFolder();
  fs::create_directories(place);
  fs::create_symlink(fs::canonical(libm.dli_fname), place / "known.so");
  EXPECT_NE(dlopen((root_ / "$LIB/known.so").c_str(), RTLD_LAZY), nullptr) << dlerror();
}

}  // namespace
}  // namespace fathom::cli
