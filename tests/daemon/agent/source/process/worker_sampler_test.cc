#include "daemon/agent/source/process/worker_sampler.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

// A made-up /proc.
class WorkerSamplerTest : public testing::Test {
 protected:
  void Children(const std::string& text) { Write("7/task/7/children", text); }
  void Thread(int pid, int tid, std::int64_t runqueue_ns) {
    Write(std::to_string(pid) + "/task/" + std::to_string(tid) + "/schedstat",
          "1000 " + std::to_string(runqueue_ns) + " 3\n");
  }
  void Write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = folder_.path() + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  KernelRoots Roots() const { return {folder_.path(), "", ""}; }

  fakes::RingFolder folder_;
};

using Waits = std::map<std::uint32_t, std::int64_t>;

TEST_F(WorkerSamplerTest, AddsUpTheThreadsOfEachChild) {
  Children("20 31 ");
  Thread(20, 20, 100);
  Thread(20, 21, 5);
  Thread(31, 31, 7);
  WorkerSampler sampler(Roots(), 7);
  EXPECT_EQ(sampler.Read(0), (Waits{{20, 105}, {31, 7}}));
}

TEST_F(WorkerSamplerTest, LooksAgainForWhoIsThere) {
  Children("20 ");
  Thread(20, 20, 100);
  WorkerSampler sampler(Roots(), 7);
  EXPECT_EQ(sampler.Read(0).size(), 1u);
  Children("20 40 ");
  Thread(40, 40, 1);
  EXPECT_EQ(sampler.Read(1).size(), 1u) << "not at every reading";
  EXPECT_EQ(sampler.Read(WorkerSampler::kLookUpNs).size(), 2u);
}

TEST_F(WorkerSamplerTest, WithoutChildrenOrTheirFileThereIsNothing) {
  WorkerSampler none(Roots(), 7);
  EXPECT_TRUE(none.Read(0).empty());
  Children("");
  WorkerSampler sampler(Roots(), 7);
  EXPECT_TRUE(sampler.Read(0).empty());
  Children("20 nonsense -4");
  EXPECT_TRUE(sampler.Read(WorkerSampler::kLookUpNs).empty()) << "20 is gone";
}

TEST_F(WorkerSamplerTest, ManyChildrenAreBounded) {
  std::string all;
  for (int pid = 100; pid < 200; ++pid) {
    all += std::to_string(pid) + " ";
    Thread(pid, pid, 1);
  }
  Children(all);
  EXPECT_EQ(WorkerSampler(Roots(), 7).Read(0).size(), WorkerSampler::kMaxWorkers);
}

}  // namespace
}  // namespace fathom::agent
