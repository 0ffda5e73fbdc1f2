#include "collector/evaluate/tell_functions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "diagnosis/functions/name_function.h"
#include "diagnosis/model/lookup.h"

namespace fathom::collector {

bool WantsCapture(const Episode& episode) {
  return episode.open() && !episode.detail.known() && diagnosis::WantsFunction(episode.verdict);
}

FunctionsTold TellFunctions(const diagnosis::JobView& view, const diagnosis::StackCapture& capture,
                            VerdictLedger& ledger, const Clock& clock,
                            const std::function<void(const std::string& line)>& say) {
  FunctionsTold told;
  for (const Episode& episode : ledger.Of(view.name)) {
    const std::vector<RankId>& ranks = episode.verdict.entity.ranks;
    const bool meant = std::any_of(ranks.begin(), ranks.end(), [&](RankId rank) {
      return diagnosis::Contains(capture.accused, rank);
    });
    if (!meant || !WantsCapture(episode)) continue;
    const diagnosis::Detail detail = diagnosis::FindFunction(view, capture, episode.verdict);
    ++(detail.known() ? told.named : told.open);
    if (say) {
      say(absl::StrCat("job ", view.name, ": the capture for verdict ", episode.id, " shows ",
                       detail.known() ? diagnosis::FunctionInWords(detail.where)
                                      : "no function; missing: " + detail.missing));
    }
    ledger.Explain(view.name, episode.id, detail, clock.Wall(), clock.Mono());
  }
  return told;
}

}  // namespace fathom::collector
