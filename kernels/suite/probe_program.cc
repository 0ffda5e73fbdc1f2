#include "kernels/suite/probe_program.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace fathom::kernels {

bool ReadNumber(const char* text, double most, double& value) {
  char* end = nullptr;
  value = std::strtod(text, &end);
  return end != text && *end == '\0' && value > 0 && value <= most;
}

void PrintLine(const std::string& line) {
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
}

int Worse(int code, Outcome outcome) {
  if (outcome == Outcome::kStopped) return 1;
  return outcome == Outcome::kFaulty || outcome == Outcome::kKilled ? 2 : code;
}

void StopBySignals(void (*on_stop)(int), bool with_parent) {
  if (with_parent) prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::signal(SIGTERM, on_stop);
  std::signal(SIGINT, on_stop);
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace fathom::kernels
