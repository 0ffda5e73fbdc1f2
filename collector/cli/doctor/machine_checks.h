// Checks of the machine: shared memory, clock, and what the kernel lets us look at.
//
// Used by doctor/examination. `root` is "/" but in tests.
// Thread-safety: pure but for reading files. Errors: a file that is not there is part of a finding.
#ifndef FATHOM_COLLECTOR_CLI_DOCTOR_MACHINE_CHECKS_H_
#define FATHOM_COLLECTOR_CLI_DOCTOR_MACHINE_CHECKS_H_

#include <filesystem>

#include "collector/cli/doctor/finding.h"

namespace fathom::cli {

Finding CheckSharedMemory(const std::filesystem::path& root);
Finding CheckClock(const std::filesystem::path& root);
Finding CheckPtrace(const std::filesystem::path& root);
Finding CheckPerfEvents(const std::filesystem::path& root);
Finding CheckGpu(const std::filesystem::path& root);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_DOCTOR_MACHINE_CHECKS_H_
