// A verdict in text: the small card of `run` and `watch`, the full page of `explain`.
//
// Thread-safety: pure functions. Errors: none; what the verdict does not say is left out.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_VERDICT_CARD_H_
#define FATHOM_COLLECTOR_CLI_REPORT_VERDICT_CARD_H_

#include <string>
#include <string_view>

#include "collector/cli/render/terminal.h"
#include "collector/cli/render/verdict_view.h"

namespace fathom::cli {

// The sentence, then grade, cause, since, cost, the strongest evidence for and against, and what to
// do. `lead` stands before the sentence ("fathom: ").
std::string VerdictCard(const VerdictView& verdict, const Terminal& terminal,
                        std::string_view lead);

// Everything the verdict holds.
std::string VerdictPage(const VerdictView& verdict, const Terminal& terminal);

// The page in short, for one screen: the strongest evidence, each of it in kLinesEach lines at
// most.
std::string VerdictSummary(const VerdictView& verdict, const Terminal& terminal);

// "98.4 ms (reference 12)" or "" when the evidence carries no number.
std::string EvidenceNumbers(const EvidenceView& evidence);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_VERDICT_CARD_H_
