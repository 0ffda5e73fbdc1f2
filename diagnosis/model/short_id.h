// Short ids that are the same whenever they are made of the same words.
//
// Used by history/job_profile and by the collector for verdicts and runs. Model: FNV-1a of 64 bits,
// cut to 48: such ids must be stable and short, not secret. Thread-safety: pure function. Errors:
// none. Cost: O(text).
// Source: http://www.isthe.com/chongo/tech/comp/fnv/.
#ifndef FATHOM_DIAGNOSIS_MODEL_SHORT_ID_H_
#define FATHOM_DIAGNOSIS_MODEL_SHORT_ID_H_

#include <string>
#include <string_view>

namespace fathom::diagnosis {

// "v0123456789ab" for kind 'v'.
std::string ShortId(char kind, std::string_view text);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_SHORT_ID_H_
