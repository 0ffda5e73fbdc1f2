// The account of a job → fathom.v1.Ledger, one to one.
//
// Used by the report. Names of enumerators are those of diagnosis' ToString.
// Thread-safety: pure function. Errors: none. Cost: O(shares).
#ifndef FATHOM_COLLECTOR_EXPORT_LEDGER_PROTO_H_
#define FATHOM_COLLECTOR_EXPORT_LEDGER_PROTO_H_

#include "diagnosis/model/account.h"

namespace fathom::v1 {
class Ledger;
}

namespace fathom::collector {

void ToProto(const diagnosis::Account& account, v1::Ledger& out);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_LEDGER_PROTO_H_
