// The rank that a file belongs to, by its name: no field of a dump, stack or log says it.
//
// "_dump_14", "nccl_trace_rank_3", "rank3.json.gz", "fr_00012.pickle": the number after the last
// "rank", else the number at the end of the name without its extensions. Pure; nullopt if neither.
#ifndef FATHOM_COLLECTOR_IMPORT_READING_RANK_NAME_H_
#define FATHOM_COLLECTOR_IMPORT_READING_RANK_NAME_H_

#include <optional>
#include <string_view>

#include "proto/types/ids.h"

namespace fathom::collector {

std::optional<RankId> RankOfFileName(std::string_view path);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_READING_RANK_NAME_H_
