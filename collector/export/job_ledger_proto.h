// The account of a whole job ↔ fathom.v1.JobLedger, and as the store keeps it.
//
// Used by the report (API) and by runs/account_keeper. Shares go out with the largest first; an
// entity's ranks where there are at most 64 (account_keeper). Names of enumerators are those of
// diagnosis' ToString; an unknown name reads as the first enumerator.
// Units: as the messages. Thread-safety: pure functions. Errors: nothing of bytes that are no
// record, or that hold negative amounts or counts. Cost: O(shares × slices).
#ifndef FATHOM_COLLECTOR_EXPORT_JOB_LEDGER_PROTO_H_
#define FATHOM_COLLECTOR_EXPORT_JOB_LEDGER_PROTO_H_

#include <optional>
#include <string>
#include <string_view>

#include "diagnosis/ledger/running/running_account.h"
#include "proto/types/time_units.h"

namespace fathom::v1 {
class JobLedger;
}

namespace fathom::collector {

struct KeptAccount {
  diagnosis::RunningAccount::State state;
  WallNs started;  // the job
  WallNs through;  // when the newest iteration that is counted began
  // The verdict on a hang, and what of it is counted before the iteration in which it lies has
  // ended; empty, 0: none; below 0: that iteration is counted.
  std::string hang;
  double hung_s = 0;
};

void ToProto(const diagnosis::RunningAccount::State& state, v1::JobLedger& out);

std::string ToBytes(const KeptAccount& account);
std::optional<KeptAccount> AccountFromBytes(std::string_view bytes);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_JOB_LEDGER_PROTO_H_
