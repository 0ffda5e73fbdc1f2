// Checks of the Python that jobs run with: its C library, PyTorch, and whether Gloo can be hooked.
//
// Used by doctor/examination. Model: Python is asked where torch lies, without importing it; the
// library's dynamic symbols are then read from the file.
// Thread-safety: single-threaded. Errors: all become findings.
#ifndef FATHOM_COLLECTOR_CLI_DOCTOR_PYTHON_CHECKS_H_
#define FATHOM_COLLECTOR_CLI_DOCTOR_PYTHON_CHECKS_H_

#include <set>
#include <string>

#include "collector/cli/doctor/finding.h"

namespace fathom::cli {

struct PythonFacts {
  std::string executable;  // the real file; empty when there is no Python
  std::string version;
  std::string torch_version;  // empty when there is no torch
  std::string torch_folder;
  std::string error;
};

// `python`: a path or a name on PATH.
PythonFacts AskPython(const std::string& python);

Finding CheckPython(const PythonFacts& facts, const std::string& asked);
Finding CheckCLibrary(const PythonFacts& facts);
Finding CheckGloo(const PythonFacts& facts);

// The functions without which the Gloo source sees nothing of collectives.
const std::set<std::string>& EssentialGlooSymbols();
// Those without which it sees no point-to-point operations.
const std::set<std::string>& PointToPointGlooSymbols();

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_DOCTOR_PYTHON_CHECKS_H_
