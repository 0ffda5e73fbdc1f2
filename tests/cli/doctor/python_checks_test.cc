#include "collector/cli/doctor/python_checks.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace fathom::cli {
namespace {

// A program that answers like Python would.
class FakePython {
 public:
  explicit FakePython(const std::string& answer) : path_(testing::TempDir() + "/fake_python") {
    std::ofstream(path_) << "#!/bin/sh\ncat <<'END'\n" << answer << "\nEND\n";
    chmod(path_.c_str(), 0755);
  }
  ~FakePython() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(PythonChecksTest, ReadsTheAnswer) {
  const FakePython python(
      R"({"executable":"/bin/sh","version":"3.11.2","torch":"2.13.0","folder":"/no/torch"})");
  const PythonFacts facts = AskPython(python.path());
  EXPECT_EQ(facts.torch_version, "2.13.0");
  EXPECT_EQ(CheckPython(facts, python.path()).state, "ok");
  EXPECT_EQ(CheckCLibrary(facts).state, "ok");
  EXPECT_EQ(CheckGloo(facts).state, "off");  // the folder is not there
}

TEST(PythonChecksTest, WithoutTorchItSaysWhatToDo) {
  const FakePython python(R"({"executable":"/bin/sh","version":"3.11.2"})");
  const Finding found = CheckPython(AskPython(python.path()), python.path());
  EXPECT_EQ(found.state, "off");
  EXPECT_NE(found.todo.find("--python"), std::string::npos);
}

TEST(PythonChecksTest, NoPythonOrNonsense) {
  EXPECT_EQ(CheckPython(AskPython("/no/such/python"), "/no/such/python").state, "off");
  const FakePython python("Segmentation fault");
  EXPECT_EQ(CheckPython(AskPython(python.path()), python.path()).state, "off");
}

}  // namespace
}  // namespace fathom::cli
