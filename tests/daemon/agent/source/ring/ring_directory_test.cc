#include "daemon/agent/source/ring/ring_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using fakes::RingFolder;
using fakes::RingWriter;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST(ParseRingNameTest, TakesPidAndGeneration) {
  std::uint32_t pid = 0;
  std::uint32_t generation = 0;
  ASSERT_TRUE(ParseRingName("1234-2.ring", pid, generation));
  EXPECT_EQ(pid, 1234u);
  EXPECT_EQ(generation, 2u);
}

TEST(ParseRingNameTest, RefusesAllElse) {
  std::uint32_t pid = 0;
  std::uint32_t generation = 0;
  for (const char* name :
       {"", ".ring", "1.ring", "1-.ring", "-1.ring", "a-1.ring", "1-a.ring", "1-0.ring.new",
        ".1-0.new", "0-0.ring", "99999999999-0.ring", "1-0 .ring"}) {
    EXPECT_FALSE(ParseRingName(name, pid, generation)) << name;
  }
}

TEST(RingDirectoryTest, OpensNewRingsOnce) {
  const RingFolder folder;
  RingWriter a(folder.path(), {.pid = 10});
  RingDirectory directory(folder.path(), 8);
  EXPECT_THAT(directory.Scan().opened, SizeIs(1));
  EXPECT_THAT(directory.Scan().opened, IsEmpty());
  RingWriter b(folder.path(), {.pid = 11});
  const ScanResult again = directory.Scan();
  ASSERT_THAT(again.opened, SizeIs(1));
  EXPECT_EQ(again.opened[0].name, "11-0.ring");
}

TEST(RingDirectoryTest, TellsOfVanishedFiles) {
  const RingFolder folder;
  RingDirectory directory(folder.path(), 8);
  RingWriter a(folder.path(), {.pid = 10});
  directory.Scan();
  std::filesystem::remove(a.path());
  EXPECT_THAT(directory.Scan().vanished, ElementsAre("10-0.ring"));
  directory.Close("10-0.ring", true);
  EXPECT_THAT(directory.Scan().vanished, IsEmpty());
}

TEST(RingDirectoryTest, RefusesGarbageOnceAndSaysWhy) {
  const RingFolder folder;
  std::ofstream(folder.path() + "/5-0.ring") << std::string(400'000, 'x');
  std::ofstream(folder.path() + "/notes.txt") << "not a ring";
  RingDirectory directory(folder.path(), 8);
  const ScanResult first = directory.Scan();
  ASSERT_THAT(first.rejected, SizeIs(1));
  EXPECT_THAT(first.rejected[0].reason, HasSubstr("magic"));
  EXPECT_THAT(directory.Scan().rejected, IsEmpty());
  EXPECT_EQ(directory.census().rejected_total, 1u);
}

TEST(RingDirectoryTest, RefusesARingThatIsNotTheNamedProcess) {
  const RingFolder folder;
  RingWriter a(folder.path(), {.pid = 10});
  std::filesystem::rename(a.path(), folder.path() + "/11-0.ring");
  RingDirectory directory(folder.path(), 8);
  const ScanResult result = directory.Scan();
  EXPECT_THAT(result.opened, IsEmpty());
  ASSERT_THAT(result.rejected, SizeIs(1));
  EXPECT_THAT(result.rejected[0].reason, HasSubstr("pid"));
}

TEST(RingDirectoryTest, TriesAgainWhatIsNotReady) {
  const RingFolder folder;
  RingWriter a(folder.path(), {.pid = 10, .ready = false});
  RingDirectory directory(folder.path(), 8);
  EXPECT_THAT(directory.Scan().opened, IsEmpty());
  a.header().ready.store(1);
  EXPECT_THAT(directory.Scan().opened, SizeIs(1));
}

TEST(RingDirectoryTest, AMissingFolderIsSaidNotFatal) {
  RingDirectory directory("/nonexistent/fathom", 8);
  EXPECT_FALSE(directory.Scan().folder_ok);
}

TEST(RingDirectoryTest, TenThousandRingsAreBounded) {
  const RingFolder folder;
  RingWriter model(folder.path(), {.pid = 1});
  for (int pid = 2; pid <= 10'000; ++pid) {
    const std::string path = folder.path() + "/" + std::to_string(pid) + "-0.ring";
    std::filesystem::create_hard_link(model.path(), path);
  }
  RingDirectory directory(folder.path(), 64);
  const ScanResult result = directory.Scan();
  // All but one are refused (their pid is not the file's): they must not eat the places.
  EXPECT_THAT(result.opened, SizeIs(1));
  EXPECT_EQ(directory.census().rejected_total, 9'999u);
}

TEST(RingDirectoryTest, RingsBeyondTheLimitWaitForAPlace) {
  const RingFolder folder;
  std::vector<std::unique_ptr<RingWriter>> writers;
  for (std::uint32_t pid = 100; pid < 150; ++pid) {
    writers.push_back(std::make_unique<RingWriter>(folder.path(), fakes::RingOptions{.pid = pid}));
  }
  RingDirectory directory(folder.path(), 20);
  const ScanResult first = directory.Scan();
  EXPECT_THAT(first.opened, SizeIs(20));
  EXPECT_EQ(first.over_limit, 30u);
  for (const OpenedRing& ring : first.opened) directory.Close(ring.name, true);
  EXPECT_THAT(directory.Scan().opened, SizeIs(20));
  EXPECT_EQ(directory.census().over_limit, 10u);
}

TEST(MakeRingFolderTest, MakesItPrivateOrShared) {
  const RingFolder folder;
  struct stat info {};
  ASSERT_TRUE(MakeRingFolder(folder.path() + "/mine", false).ok());
  stat((folder.path() + "/mine").c_str(), &info);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  ASSERT_TRUE(MakeRingFolder(folder.path() + "/ours", true).ok());
  stat((folder.path() + "/ours").c_str(), &info);
  EXPECT_EQ(info.st_mode & 07777, 01777u);
  EXPECT_TRUE(MakeRingFolder(folder.path() + "/ours", true).ok());
}

TEST(MakeRingFolderTest, AFolderThatOthersRuleIsAnError) {
  const RingFolder folder;
  const std::string open = folder.path() + "/open", link = folder.path() + "/link";
  std::filesystem::create_directory(open);
  ASSERT_EQ(chmod(open.c_str(), 0777), 0);
  EXPECT_THAT(std::string(MakeRingFolder(open, false).message()), HasSubstr("others may take"));
  ASSERT_EQ(chmod(open.c_str(), 01777), 0);
  EXPECT_TRUE(MakeRingFolder(open, true).ok());
  std::filesystem::create_symlink(open, link);
  EXPECT_FALSE(MakeRingFolder(link, true).ok());
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(open.c_str(), 65534, 65534), 0);
  EXPECT_THAT(std::string(MakeRingFolder(open, true).message()), HasSubstr("65534"));
}

// Only root can make files of others.
TEST(RingDirectoryTest, ARingBelongsToTheOwnerOfItsProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const RingFolder folder;
  const std::string processes = folder.path() + "/proc";
  for (const char* pid : {"/10", "/11"}) std::filesystem::create_directories(processes + pid);
  ASSERT_EQ(chown((processes + "/11").c_str(), 65534, 65534), 0);
  const RingWriter of_root(folder.path(), {.pid = 10}), own(folder.path(), {.pid = 11});
  const RingWriter of_nobody(folder.path(), {.pid = 12});
  for (const RingWriter* ring : {&of_root, &own, &of_nobody}) {
    ASSERT_EQ(chown(ring->path().c_str(), 65534, 65534), 0);
  }
  RingDirectory directory(folder.path(), 8, processes);
  const ScanResult result = directory.Scan();
  ASSERT_THAT(result.opened, SizeIs(1));
  EXPECT_EQ(result.opened[0].name, "11-0.ring");
  EXPECT_THAT(
      result.rejected,
      UnorderedElementsAre(Field(&RejectedRing::reason, HasSubstr("put it there for process 10")),
                           Field(&RejectedRing::reason, HasSubstr("process 12 is gone"))));
}

TEST(RingDirectoryTest, OneUserDoesNotTakeAllPlaces) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const RingFolder folder;
  const std::string processes = folder.path() + "/proc";
  std::vector<std::unique_ptr<RingWriter>> rings;
  const auto put = [&](std::uint32_t pid, uid_t user) {
    const std::string process = processes + "/" + std::to_string(pid);
    std::filesystem::create_directories(process);
    rings.push_back(std::make_unique<RingWriter>(folder.path(), fakes::RingOptions{.pid = pid}));
    ASSERT_EQ(chown(process.c_str(), user, user), 0);
    ASSERT_EQ(chown(rings.back()->path().c_str(), user, user), 0);
  };
  for (std::uint32_t pid = 10; pid < 20; ++pid) put(pid, 65534);
  RingDirectory directory(folder.path(), 8, processes);
  const ScanResult first = directory.Scan();
  EXPECT_THAT(first.opened, SizeIs(6));
  EXPECT_EQ(first.over_limit, 4u);
  put(20, 65533);
  put(21, 0);
  EXPECT_THAT(directory.Scan().opened, SizeIs(2));
  directory.Close(first.opened[0].name, true);
  EXPECT_THAT(directory.Scan().opened, SizeIs(1)) << "the next of the first user";
}

TEST(RingDirectoryTest, AFifoInItsPlaceDoesNotHoldTheAgentUp) {
  const RingFolder folder;
  ASSERT_EQ(mkfifo((folder.path() + "/4242-0.ring").c_str(), 0444), 0);
  RingDirectory directory(folder.path(), 8);
  EXPECT_THAT(directory.Scan().rejected, SizeIs(1));
}

TEST(MakeRingFolderTest, AFileInItsPlaceIsAnError) {
  const RingFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  EXPECT_FALSE(MakeRingFolder(folder.path() + "/file", false).ok());
}

}  // namespace
}  // namespace fathom::agent
