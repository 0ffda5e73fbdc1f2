// The executable `fathom`.
#include "collector/cli/command_line.h"

int main(int argc, char** argv) {
  if (argc < 1) return 1;
  return fathom::cli::RunCommandLine(std::vector<std::string>(argv + 1, argv + argc));
}
