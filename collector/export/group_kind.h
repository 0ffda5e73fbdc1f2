// What a communicator is for, told from its own words: "world", "tensor", "data", …
//
// Used by the report and the API. Looks at size and at the name and description that the framework
// gave; anything else is "unknown" (membership patterns are for diagnosis/schedule to read).
// Thread-safety: pure functions.
#ifndef FATHOM_COLLECTOR_EXPORT_GROUP_KIND_H_
#define FATHOM_COLLECTOR_EXPORT_GROUP_KIND_H_

#include <string>

#include "diagnosis/model/job_view.h"

namespace fathom::collector {

std::string GroupKind(const diagnosis::Group& group, std::uint32_t world_size);
// 16 hex digits: ids do not fit a JSON number.
std::string GroupIdText(GroupId id);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_GROUP_KIND_H_
