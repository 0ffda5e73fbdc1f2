#include "tests/daemon/tracer/preload/victim_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace fathom::tracer_test {
namespace {

std::string NewFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "fathom-victim-XXXXXX").string();
  return mkdtemp(name.data()) == nullptr ? std::string() : name;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool Names(const std::vector<std::string>& environment, const std::string& variable) {
  return std::any_of(environment.begin(), environment.end(),
                     [&](const std::string& e) { return e.rfind(variable + "=", 0) == 0; });
}

}  // namespace

std::string BuiltFile(const std::string& name) {
  const char* folder = getenv("FATHOM_BINARY_DIR");
  return std::string(folder == nullptr ? "." : folder) + "/" + name;
}

VictimRun::VictimRun(const std::string& mode, const std::string& argument,
                     std::vector<std::string> environment, const std::string& preload,
                     const std::string& program)
    : folder_(NewFolder()) {
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return;
  std::vector<std::string> argv = {BuiltFile(program), BuiltFile("tests/libfake_gloo.so"), mode,
                                   argument};
  if (preload != "none") {
    environment.push_back("LD_PRELOAD=" + (preload.empty() ? BuiltFile("libfathom.so") : preload));
  }
  if (!Names(environment, "FATHOM_SHM_DIR")) environment.push_back("FATHOM_SHM_DIR=" + folder_);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  EXPECT_EQ(posix_spawn(&pid_, argv[0].c_str(), &actions, nullptr, Pointers(argv).data(),
                        Pointers(environment).data()),
            0);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  in_ = in[1];
  out_ = out[0];
}

VictimRun::~VictimRun() {
  if (pid_ > 0) {
    Kill(SIGKILL);
    Finish();
  }
  close(in_);
  close(out_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool VictimRun::ReadMore() {
  char bytes[4096];
  ssize_t got = 0;
  while ((got = read(out_, bytes, sizeof(bytes))) < 0 && errno == EINTR) {
  }
  if (got > 0) output_.append(bytes, static_cast<std::size_t>(got));
  return got > 0;
}

bool VictimRun::WaitFor(const std::string& line) {
  while (true) {
    const std::size_t at = output_.find(line + "\n", read_);
    if (at != std::string::npos) {
      read_ = at + line.size() + 1;
      return true;
    }
    if (!ReadMore()) return false;
  }
}

void VictimRun::Go() { EXPECT_EQ(write(in_, "go\n", 3), 3); }

int VictimRun::Finish() {
  while (ReadMore()) {
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void VictimRun::Kill(int signal) { kill(pid_, signal); }

std::vector<std::string> VictimRun::Files() const {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> VictimRun::Rings() const {
  std::vector<std::string> files = Files();
  files.erase(std::remove_if(files.begin(), files.end(),
                             [](const std::string& f) { return !f.ends_with(".ring"); }),
              files.end());
  return files;
}

Outcome RunVictim(const std::string& mode, const std::string& argument,
                  std::vector<std::string> environment, const std::string& preload,
                  const std::string& program) {
  Outcome outcome;
  VictimRun run(mode, argument, std::move(environment), preload, program);
  if (!run.WaitFor("ready")) {
    outcome.code = run.Finish();
    ADD_FAILURE() << mode << " ended before it made its group, with code " << outcome.code;
    return outcome;
  }
  if (const auto rings = run.Rings(); !rings.empty()) {
    outcome.ring = std::make_unique<MappedRing>(rings.front());
  }
  run.Go();
  outcome.code = run.Finish();
  outcome.output = run.output();
  outcome.left = run.Files();
  return outcome;
}

}  // namespace fathom::tracer_test
