// The orders in which ranks called their ops, in words: what stands beside a verdict on a ring.
//
//   Rank 0 entered last: recv from rank 1, then all_reduce of WORLD (0), then send to rank 1.
//
// Used by rules hang (rows) and stopped_job (records). Thread-safety: pure functions. Cost:
// OrdersOf O(ops in the rows), else O(ranks).
#ifndef FATHOM_DIAGNOSIS_HANG_ORDER_ORDER_WORDS_H_
#define FATHOM_DIAGNOSIS_HANG_ORDER_ORDER_WORDS_H_

#include <map>
#include <string>
#include <vector>

#include "diagnosis/hang/order/program_order.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

using Orders = std::map<RankId, std::vector<OpStep>>;  // oldest first

// The rows of each rank as steps.
Orders OrdersOf(const JobView& view);

// "send to rank 1", "recv from any rank", "all_reduce of TENSOR (1)".
std::string InWords(const JobView& view, const OpStep& step);

// The last ops of each of `ranks` as evidence, the first ranks of many. A rank of which none are
// known is left out.
void AddOrders(const JobView& view, const Orders& orders, const std::vector<RankId>& ranks,
               const std::string& source, Verdict& verdict);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_ORDER_ORDER_WORDS_H_
