// How fathom-probe runs the program that measures GPUs: found, missing, failing, hanging.
#include "kernels/suite/gpu_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

using ::testing::HasSubstr;

struct GpuProgramTest : testing::Test {
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("gpu_program_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string Script(const std::string& text) const {
    const auto path = folder / "stand_in";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    chmod(path.c_str(), 0755);
    return path.string();
  }

  // Its exit code; what was printed goes to `printed`.
  int Run(const std::string& program, const GpuRequest& request) {
    testing::internal::CaptureStdout();
    const int code = RunGpuProgram(program, request, stop);
    printed = testing::internal::GetCapturedStdout();
    return code;
  }

  std::filesystem::path folder;
  std::string printed;
  std::atomic<bool> stop{false};
};

TEST_F(GpuProgramTest, ItsLinesAreOursAndItHearsWhatWasAsked) {
  EXPECT_EQ(Run(Script("echo \"$@\""), {.full = true, .seconds = 5, .probes = "gpu_clock"}), 0);
  EXPECT_THAT(printed, HasSubstr("--with-parent"));
  EXPECT_THAT(printed, HasSubstr("--full --seconds 5"));
  EXPECT_THAT(printed, HasSubstr("--probes gpu_clock"));
}

TEST_F(GpuProgramTest, WhatIsMissingIsSkippedWithItsName) {
  EXPECT_EQ(Run("/nowhere/fathom-probe-cuda", {}), 77);
  EXPECT_THAT(printed, HasSubstr("\"outcome\":\"skipped\""));
  EXPECT_THAT(printed, HasSubstr("/nowhere/fathom-probe-cuda: No such file"));
}

TEST_F(GpuProgramTest, AFaultIsAFault) { EXPECT_EQ(Run(Script("exit 2"), {}), 2); }

TEST_F(GpuProgramTest, NoGpuIsSkipped) {
  EXPECT_EQ(Run(Script("exit 77"), {}), 77);
  EXPECT_THAT(printed, HasSubstr("CUDA can use no GPU here"));
}

TEST_F(GpuProgramTest, AProgramThatDiesIsTold) {
  EXPECT_EQ(Run(Script("kill -SEGV $$"), {}), 2);
  EXPECT_THAT(printed, HasSubstr("\"outcome\":\"killed\""));
}

TEST_F(GpuProgramTest, StopEndsOneThatHangs) {
  std::thread stopping([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = true;
  });
  const double begin = WallSeconds();
  EXPECT_EQ(Run(Script("exec sleep 100"), {}), 1);
  stopping.join();
  EXPECT_LT(WallSeconds() - begin, 20);
  EXPECT_THAT(printed, HasSubstr("\"outcome\":\"stopped\""));
}

TEST_F(GpuProgramTest, ADriverIsSeenByItsFiles) {
  EXPECT_FALSE(HasGpuDriver(folder.string()));
  std::filesystem::create_directories(folder / "dev");
  std::ofstream(folder / "dev/nvidiactl") << "";
  EXPECT_TRUE(HasGpuDriver(folder.string()));
}

}  // namespace
}  // namespace fathom::kernels
