// Words: the sentence of a verdict, its evidence in numbers, and what to do about it.
//
// Used by evidence, ranking, tables and the rules. Plain, exact, with names and numbers; commands
// are ready to be run, and never aim at a node for what lies in the user's code.
// Thread-safety: pure functions.
#ifndef FATHOM_DIAGNOSIS_WORDING_PHRASE_H_
#define FATHOM_DIAGNOSIS_WORDING_PHRASE_H_

#include <string>
#include <vector>

#include "diagnosis/evidence/ledger.h"
#include "diagnosis/evidence/rule.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// "104 ms", "3.2 ms", "12.5 s".
std::string Duration(double seconds);

// "1", "1 and 3", "0, 1 and 3", "0, 1, 2 and 61 others"; "that are not known" of none.
std::string RankList(const std::vector<RankId>& ranks);

// "rank 2", "ranks 9 and 14".
std::string RanksInWords(const std::vector<RankId>& ranks);
// The same with a capital, where it begins a sentence.
std::string RanksAtStart(const std::vector<RankId>& ranks);

// "Rank 2 on node a" or "Rank 2".
std::string RankName(const JobView& view, RankId rank);

// "Rank 2 on node a (GPU 0000:1B:00.0)"; as RankName where its GPU is not known.
std::string RankAndGpuName(const JobView& view, RankId rank);

// "TENSOR (1)", "group 1", "a group" where it is not known.
std::string GroupName(const JobView& view, GroupId id);

// What the time went into, for the sentence: "host time (not computing, not waiting)".
std::string CauseInWords(Cause cause);

// "since iteration 110", as sentences say it.
std::string SinceInWords(Iteration iteration);

// Owner and class that go with a cause.
Owner OwnerOf(Cause cause);
ProblemClass ClassOf(Cause cause);

// Action text and command for a slow or hanging rank.
void AdviseOnRank(const JobView& view, RankId rank, Verdict& verdict);

// Adds to the action text on which node to run its command; nothing where `node` is empty.
void AdviseWhereToRun(const std::string& node, Verdict& verdict);

// Of a verdict on computing, where the FLOP of the rank's products of matrices are so many times
// `those` ("its peers'"): that it has more to do speaks against its device. Nothing where they are
// about as many, or 0.
void AddMoreProducts(double times, const char* those, const char* source, Verdict& verdict);

// Fills sentence, evidence, counter-evidence and would_change of a slow rank's verdict.
void DescribeSlowRank(const Case& c, const Ledger& ledger, const RankAccount& account,
                      Verdict& verdict);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WORDING_PHRASE_H_
