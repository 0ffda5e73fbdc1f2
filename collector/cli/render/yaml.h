// JSON as YAML (block style), for `-o yaml`.
//
// Strings are written plain only when no YAML 1.1 or 1.2 reader could take them for something else;
// otherwise in double quotes, escaped as JSON does, which YAML reads alike.
// Thread-safety: pure function. Errors: none; nesting deeper than 64 is written in flow style.
#ifndef FATHOM_COLLECTOR_CLI_RENDER_YAML_H_
#define FATHOM_COLLECTOR_CLI_RENDER_YAML_H_

#include <string>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

std::string ToYaml(const Json& value);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_YAML_H_
