// A notice as the text that is kept of it over a restart, and back.
//
// Used by the collector's outbox. JSON with the names of the members. Thread-safety: pure
// functions. Errors: ReadNotice gives nothing of a text that is no notice; what it does not know is
// left out.
#ifndef FATHOM_COLLECTOR_NOTIFY_NOTICE_RECORD_H_
#define FATHOM_COLLECTOR_NOTIFY_NOTICE_RECORD_H_

#include <optional>
#include <string>
#include <string_view>

#include "collector/notify/notice.h"

namespace fathom::collector {

std::string WriteNotice(const Notice& notice);
[[nodiscard]] std::optional<Notice> ReadNotice(std::string_view text);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NOTIFY_NOTICE_RECORD_H_
