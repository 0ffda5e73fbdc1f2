#include "daemon/agent/source/held/stop_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/agent/source/process/control_groups.h"

namespace fathom::agent {
namespace {

constexpr std::int64_t kSilencePart = 8;

int OpenToRead(const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }

void CloseFile(int& file) {
  if (file >= 0) close(file);
  file = -1;
}

// The beginning of the file; empty where it cannot be read any more.
template <std::size_t kSize>
std::string_view TextOf(int file, char (&text)[kSize]) {
  const ssize_t got = file < 0 ? -1 : pread(file, text, kSize, 0);
  return got <= 0 ? std::string_view() : std::string_view(text, static_cast<std::size_t>(got));
}

char StateIn(std::string_view stat) {
  const std::string_view fields = AfterName(stat);
  return fields.size() < 2 ? '?' : fields[1];
}

bool SaysFrozen(std::string_view freezer) {
  return freezer.starts_with("FROZEN") || NumberAfter(freezer, "frozen").value_or(0) != 0;
}

std::string FreezerOf(const KernelRoots& roots, std::uint32_t pid) {
  for (const ControlGroup& group : ControlGroupsOf(roots, pid, "freezer")) {
    if (absl::StrContains(group.path, "/..")) continue;  // of another namespace
    return absl::StrCat(group.folder(), group.unified ? "/cgroup.events" : "/freezer.state");
  }
  return "";
}

}  // namespace

// Of the main thread alone: the file of the whole process adds up the times of all its threads.
StopWatch::StopWatch(const KernelRoots& roots, std::uint32_t pid)
    : roots_(roots),
      pid_(pid),
      state_file_(OpenToRead(absl::StrCat(roots.proc, "/", pid, "/task/", pid, "/stat"))) {}

StopWatch::~StopWatch() {
  CloseFile(state_file_);
  CloseFile(freezer_file_);
}

std::optional<StopWatch::Stretch> StopWatch::Look(std::int64_t now_ns, std::int64_t moved_ns,
                                                  std::int64_t soonest_ns) {
  if (!Due(now_ns, moved_ns, soonest_ns)) return std::nullopt;
  looked_ns_ = now_ns;
  const std::int64_t told = told_until_ns_;
  if (!Stopped(now_ns)) {
    ran_ns_ = now_ns;
    told_until_ns_ = 0;
    if (told == 0) return std::nullopt;
    const std::int64_t middle = told + (now_ns - told) / 2;
    return Tell(told, moved_ns > told ? std::min(middle, moved_ns) : middle);
  }
  const std::int64_t ran = std::max(ran_ns_, moved_ns);
  told_until_ns_ = now_ns;
  return Tell(told != 0 ? told : ran + (now_ns - ran) / 2, now_ns);
}

bool StopWatch::Due(std::int64_t now_ns, std::int64_t moved_ns, std::int64_t soonest_ns) const {
  if (told_until_ns_ != 0 && moved_ns > told_until_ns_) return true;  // it goes on
  const std::int64_t silent_ns = now_ns - moved_ns;
  if (told_until_ns_ == 0 && silent_ns < kQuietNs) return false;
  const std::int64_t rest = std::clamp(silent_ns / kSilencePart, kSoonestNs, kLatestNs);
  return now_ns - looked_ns_ >= std::max(rest, soonest_ns);
}

bool StopWatch::Stopped(std::int64_t now_ns) {
  char text[128];
  const char state = StateIn(TextOf(state_file_, text));
  if (state == 'T' || state == 't') return true;
  if (state != 'S' && state != 'D') return false;  // it runs, or is gone
  LookUpFreezer(now_ns);
  return SaysFrozen(TextOf(freezer_file_, text));
}

void StopWatch::LookUpFreezer(std::int64_t now_ns) {
  if (now_ns < next_look_up_ns_) return;
  next_look_up_ns_ = now_ns + kLookUpNs;
  std::string freezer = FreezerOf(roots_, pid_);
  if (freezer == freezer_) return;
  freezer_ = std::move(freezer);
  CloseFile(freezer_file_);
  if (!freezer_.empty()) freezer_file_ = OpenToRead(freezer_);
}

StopWatch::Stretch StopWatch::Tell(std::int64_t begin_ns, std::int64_t end_ns) {
  stopped_ns_ += end_ns - begin_ns;
  return {begin_ns, end_ns};
}

}  // namespace fathom::agent
