#include "collector/cli/text/verdict_fields.h"

namespace fathom::cli {

bool IsOpen(const Json& verdict) {
  return !HasField(verdict, "until") && TextField(verdict, "closed_because").empty();
}

int GradeStrength(const std::string& grade) {
  if (grade == "established") return 3;
  if (grade == "supported") return 2;
  return grade == "hypothesis" ? 1 : 0;
}

}  // namespace fathom::cli
