#include "collector/cli/doctor/examination.h"

#include <cstdlib>

#include "collector/cli/doctor/fathom_checks.h"
#include "collector/cli/doctor/machine_checks.h"
#include "collector/cli/doctor/python_checks.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {

std::string DefaultPython() {
  const char* environment = std::getenv("VIRTUAL_ENV");
  return environment != nullptr && *environment != '\0' ? Cat(environment, "/bin/python")
                                                        : "python3";
}

Findings Examine(const CollectorApi& api, const std::string& python) {
  const std::filesystem::path self = ThisExecutable();
  const Installation installation = ThisInstallation();
  const PythonFacts facts = AskPython(python);
  const Finding collector = CheckCollector(api);
  const Finding agent = CheckAgent();
  return {CheckTracer(installation, self),
          CheckPrograms(installation),
          CheckPythonHook(installation),
          CheckSharedMemory("/"),
          CheckCLibrary(facts),
          CheckPython(facts, python),
          CheckGloo(facts),
          CheckGpu("/"),
          CheckClock("/"),
          CheckPtrace("/"),
          CheckPerfEvents("/"),
          collector,
          agent,
          CheckPorts(collector.state == "ok", agent.state == "ok")};
}

Json ToJson(const Findings& findings) {
  Json list = Json::array();
  for (const Finding& each : findings) {
    list.push_back({{"name", each.name},
                    {"state", each.state},
                    {"why", each.why},
                    {"hides", each.hides},
                    {"todo", each.todo}});
  }
  return Json{{"checks", list}};
}

}  // namespace fathom::cli
