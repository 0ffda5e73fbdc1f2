// Checks of fathom itself: are its parts beside us, does the tracer load, are ports and collector
// there.
//
// Used by doctor/examination, and by CommandLine for the probe. Thread-safety: single-threaded.
// Errors: all become findings.
#ifndef FATHOM_COLLECTOR_CLI_DOCTOR_FATHOM_CHECKS_H_
#define FATHOM_COLLECTOR_CLI_DOCTOR_FATHOM_CHECKS_H_

#include "collector/cli/doctor/finding.h"
#include "collector/cli/http/collector_api.h"
#include "collector/cli/run/installation.h"

namespace fathom::cli {

// libfathom.so is there, and a program started under LD_PRELOAD has it mapped.
Finding CheckTracer(const Installation& installation, const std::filesystem::path& probe);
Finding CheckPrograms(const Installation& installation);
Finding CheckPythonHook(const Installation& installation);
Finding CheckCollector(const CollectorApi& api);
Finding CheckAgent();
// The default ports are free, or taken by the ones whose they are.
Finding CheckPorts(bool collector_answers, bool agent_answers);

// What the probe child does: exit code 0 when this process has libfathom.so mapped.
int RunPreloadProbe();
inline constexpr const char* kPreloadProbe = "--preload-probe";

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_DOCTOR_FATHOM_CHECKS_H_
