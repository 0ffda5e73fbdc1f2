#include "daemon/agent/source/process/code_mark.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fathom::agent {
namespace {

namespace fs = std::filesystem;

// A process of this user in a made-up /proc, whose script lies in src/ of its working folder.
struct CodeMarkTest : testing::Test {
  fs::path process = fs::temp_directory_path() / ("fathom-code-mark-" + std::to_string(getpid()));

  void SetUp() override {
    fs::remove_all(process);
    fs::create_directories(process / "cwd/src");
    Write("train.py", "import model\n");
    Write("model.py", "LAYERS = 4\n");
    Write("notes.txt", "none of the code\n");
  }
  void TearDown() override { fs::remove_all(process); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(process / "cwd/src" / name, std::ios::binary) << text;
  }
  std::string Mark(const std::string& script = "src/train.py") const {
    return ReadCodeMark(process.string(), {"python", "-u", script, "--lr", "1"});
  }
};

TEST_F(CodeMarkTest, TheSameFilesGiveTheSameMark) {
  const std::string before = Mark();
  EXPECT_TRUE(before.ends_with(" of 2 files")) << before;
  EXPECT_EQ(Mark(), before);
  Write("notes.txt", "other notes\n");
  EXPECT_EQ(Mark(), before);
}

TEST_F(CodeMarkTest, AChangeOfTheScriptOrOfAFileBesideItIsAnother) {
  const std::string before = Mark();
  Write("model.py", "LAYERS = 5\n");
  const std::string model = Mark();
  EXPECT_NE(model, before);
  Write("train.py", "import model  # .item() each step\n");
  EXPECT_NE(Mark(), model);
  fs::rename(process / "cwd/src/model.py", process / "cwd/src/models.py");
  EXPECT_NE(Mark(), model);
}

TEST_F(CodeMarkTest, WithoutAScriptThereIsNone) {
  EXPECT_EQ(Mark("src/gone.py"), "");
  EXPECT_EQ(ReadCodeMark(process.string(), {"./train", "--lr", "1"}), "");
}

// What only the agent may read would be told apart by its checksum.
TEST_F(CodeMarkTest, AFileThatTheUserMayNotReadDoesNotCount) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(chown(process.c_str(), 4321, 4321), 0);
  Write("secret.py", "a\n");
  const fs::path secret = process / "cwd/src/secret.py";
  ASSERT_EQ(chmod(secret.c_str(), 0600), 0);
  const std::string before = Mark();
  Write("secret.py", "b\n");
  EXPECT_EQ(Mark(), before);
  ASSERT_EQ(chmod(secret.c_str(), 0644), 0);
  EXPECT_NE(Mark(), before);
}

TEST_F(CodeMarkTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo((process / "cwd/src/pipe.py").c_str(), 0600), 0);
  EXPECT_TRUE(Mark().ends_with(" of 3 files"));
}

TEST_F(CodeMarkTest, ManyAndLargeFilesAreBounded) {
  for (int i = 0; i < 300; ++i) Write("m" + std::to_string(i) + ".py", "pass\n");
  Write("train.py", std::string(CodeMark::kMostBytes + 10, '#'));
  const std::string mark = Mark();
  EXPECT_TRUE(mark.ends_with(" of 65 files")) << mark;
  Write("train.py", std::string(CodeMark::kMostBytes, '#'));
  EXPECT_EQ(Mark(), mark);
}

}  // namespace
}  // namespace fathom::agent
