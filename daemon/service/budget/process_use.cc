#include "daemon/service/budget/process_use.h"

#include <unistd.h>

#include <ctime>
#include <fstream>

namespace fathom::service {

double ProcessCpuSeconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

double PrivateBytes(const std::string& proc) {
  std::ifstream statm(proc + "/self/statm");
  double size = 0, resident = 0, shared = 0;
  if (!(statm >> size >> resident >> shared)) return 0;
  return (resident - shared) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace fathom::service
