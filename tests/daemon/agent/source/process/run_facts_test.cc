// With what a process was started, from a made-up /proc.
#include "daemon/agent/source/process/run_facts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon/agent/source/process/process_files.h"

namespace fathom::agent {
namespace {

namespace fs = std::filesystem;

const std::string kRoot = "7/root";  // of process 7
constexpr char kHash[] = "0123456789abcdef0123456789abcdef01234567";

struct RunFactsTest : testing::Test {
  fs::path folder = fs::temp_directory_path() / ("fathom-run-facts-" + std::to_string(getpid()));
  KernelRoots roots{(folder / "proc").string(), ""};

  void SetUp() override { fs::remove_all(folder); }
  void TearDown() override { fs::remove_all(folder); }
  void Write(const std::string& name, const std::string& text) const {
    const fs::path file = folder / "proc" / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  static std::string WithNul(std::string text) {
    std::replace(text.begin(), text.end(), ' ', '\0');
    return text + '\0';
  }
};

ProcessSetup Arguments(const std::vector<std::string>& command) {
  ProcessSetup setup;
  TakeArguments(command, setup);
  return setup;
}

TEST(RunArguments, AreToldByName) {
  const ProcessSetup setup = Arguments({"python", "-u", "src/train.py", "--lr", "-0.1", "--sync",
                                        "--batch=8", "data", "model.depth=3", "--local-rank=1"});
  EXPECT_EQ(setup.program, "train.py");
  const std::map<std::string, std::string> want = {{"argument --lr", "-0.1"},
                                                   {"argument --sync", ""},
                                                   {"argument --batch", "8"},
                                                   {"argument (others)", "data"},
                                                   {"argument model.depth", "3"}};
  EXPECT_EQ(setup.facts, want);
  EXPECT_EQ(Arguments({"python", "-m", "pretrain.run", "--x", "1"}).program, "pretrain.run");
  EXPECT_EQ(Arguments({"/opt/bin/trainer", "-v"}).program, "trainer");
  EXPECT_TRUE(Arguments({}).facts.empty());
}

TEST(RunArguments, SecretsAreMasked) {
  EXPECT_EQ(Masked("--api-key", "abc"), kMasked);
  EXPECT_EQ(Masked("--wandb_token", "abc"), kMasked);
  for (const char* name :
       {"--dbPassword", "--hfToken", "--authtoken", "MYSECRET", "SESSION_TOKEN"}) {
    EXPECT_EQ(Masked(name, "abc"), kMasked) << name;
  }
  for (const char* value : {"Authorization: Bearer abc", "depth=3,token=abc", "PASSWORD=abc"}) {
    EXPECT_EQ(Masked("--options", value), kMasked) << value;
  }
  for (const char* name : {"--maxTokens", "--bypass", "--monkeys"}) {
    EXPECT_EQ(Masked(name, "abc"), "abc") << name;
  }
  EXPECT_EQ(Masked("--tokenizer", "gpt2"), "gpt2");
  EXPECT_EQ(Masked("--max-tokens", "4096"), "4096");
  EXPECT_EQ(Masked("(others)", "hf_abcdefghijklmnop1234567890"), kMasked);
  EXPECT_EQ(Masked("--out", "/scratch/runs/2024-11-25/checkpoints"),
            "/scratch/runs/2024-11-25/checkpoints");
  EXPECT_EQ(Masked("--store", "https://me:pw@host/x"), "https://(masked)@host/x");
}

TEST(RunEnvironment, OnlyListedVariablesAreTold) {
  ProcessSetup setup;
  TakeEnvironment(
      {"NCCL_ALGO=Ring", "AWS_SECRET_ACCESS_KEY=x", "HOME=/home/me", "OMP_NUM_THREADS=4",
       "CUDA_VISIBLE_DEVICES=3", "FATHOM_SHM_DIR=/dev/shm/x", "FATHOM_PROFILE=big",
       "NCCL_AUTH_TOKEN=x", "FATHOM_IMAGE=repo/train:7", "broken"},
      setup);
  EXPECT_EQ(setup.profile, "big");
  const std::map<std::string, std::string> want = {{"environment NCCL_ALGO", "Ring"},
                                                   {"environment NCCL_AUTH_TOKEN", kMasked},
                                                   {"environment OMP_NUM_THREADS", "4"},
                                                   {"environment FATHOM_IMAGE", "repo/train:7"},
                                                   {"image", "repo/train:7"}};
  EXPECT_EQ(setup.facts, want);
}

TEST(RunEnvironment, IsBounded) {
  std::vector<std::string> many;
  for (int i = 0; i < 5000; ++i) many.push_back("NCCL_X" + std::to_string(i) + "=1");
  many[0] = "NCCL_LONG=" + std::string(100'000, 'a');
  ProcessSetup setup;
  TakeEnvironment(many, setup);
  EXPECT_EQ(setup.facts.size(), kMaxFacts);
  EXPECT_EQ(setup.facts["environment NCCL_LONG"].size(), kMaxFactBytes);
}

TEST_F(RunFactsTest, VersionsAndRevisionAreReadWhereTheProcessSeesThem) {
  Write("7/cmdline", WithNul("python train.py --lr 0.1"));
  Write("7/environ", WithNul("NCCL_ALGO=Ring PATH=/bin"));
  Write("7/maps",
        "7f00-7f01 r-xp 0 00:00 1 /env/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so\n"
        "7f02-7f03 r-xp 0 00:00 1 "
        "/env/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2\n");
  const std::string site = kRoot + "/env/lib/python3.11/site-packages/";
  Write(site + "torch/version.py",
        "from typing import Optional\n__version__ = '2.4.1+cu124'\ncuda: Optional[str] = '12.4'\n");
  Write(site + "nvidia_nccl_cu12-2.20.5.dist-info/METADATA", "");
  Write(kRoot + "/etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian 12\"\n");
  Write("7/cwd/.git/HEAD", "ref: refs/heads/main\n");
  Write("7/cwd/.git/packed-refs", std::string("# pack\n") + kHash + " refs/heads/main\n");
  Write("sys/kernel/osrelease", "6.1.0-18-amd64\n");
  Write("driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu\n");
  Write("driver/nvidia/gpus/0000:1b:00.0/information", "Model: \t NVIDIA H100\nGPU UUID: x\n");
  fs::create_symlink("/env/bin/python3.11", folder / "proc/7/exe");
  const ProcessSetup setup = ReadProcessSetup(roots, 7);
  EXPECT_EQ(setup.program, "train.py");
  EXPECT_EQ(setup.framework, "torch");
  EXPECT_EQ(setup.device, "cpu");
  const std::map<std::string, std::string> want = {
      {"argument --lr", "0.1"},    {"environment NCCL_ALGO", "Ring"},
      {"torch", "2.4.1+cu124"},    {"cuda", "12.4"},
      {"nccl", "2.20.5"},          {"python", "3.11"},
      {"system", "Debian 12"},     {"kernel", "6.1.0-18-amd64"},
      {"driver", "570.86.15"},     {"gpu", "NVIDIA H100"},
      {"revision", "0123456789ab"}};
  EXPECT_EQ(setup.facts, want);
}

TEST_F(RunFactsTest, WhatIsNoVersionIsNotTold) {
  Write("7/cmdline", WithNul("python train.py"));
  Write("7/maps", "1-2 r-xp 0 00:00 1 /env/torch/lib/libtorch.so\n");
  Write(kRoot + "/env/torch/version.py", "__version__ = 'root:x:0:0 secret'\n");
  Write("7/cwd/.git/HEAD", "root:x:0:0:root:/root:/bin/bash\n");
  const ProcessSetup setup = ReadProcessSetup(roots, 7);
  EXPECT_TRUE(setup.facts.empty());
}

TEST_F(RunFactsTest, APipeIsNotWaitedFor) {
  fs::create_directories(folder / "proc/7/cwd/.git");
  ASSERT_EQ(mkfifo((folder / "proc/7/cwd/.git/HEAD").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((folder / "proc/7/environ").c_str(), 0600), 0);
  EXPECT_TRUE(ReadProcessSetup(roots, 7).facts.empty());
  EXPECT_EQ(ReadRegular((folder / "proc/7/environ").string(), 100), "");
}

TEST_F(RunFactsTest, OfAProcessThatIsGoneNothingIsTold) {
  const ProcessSetup setup = ReadProcessSetup(roots, 8);
  EXPECT_TRUE(setup.facts.empty());
  EXPECT_TRUE(setup.program.empty());
}

}  // namespace
}  // namespace fathom::agent
