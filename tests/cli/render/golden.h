// Golden files of the command line: JSON as a collector sends it, and the text it is to become.
//
// Under tests/cli/golden. With FATHOM_UPDATE_GOLDEN=1 in the environment the expected texts are
// written anew instead of compared; look at the difference before committing it.
#ifndef FATHOM_TESTS_CLI_RENDER_GOLDEN_H_
#define FATHOM_TESTS_CLI_RENDER_GOLDEN_H_

#include <string>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

Json ReadGoldenJson(const std::string& name);
// Compares `text` with the file `name`, failing the test when they differ.
void ExpectGolden(const std::string& text, const std::string& name);
// Times of day in goldens are UTC.
void UseUtc();

}  // namespace fathom::cli

#endif  // FATHOM_TESTS_CLI_RENDER_GOLDEN_H_
