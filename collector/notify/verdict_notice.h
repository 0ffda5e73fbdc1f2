// A verdict as a notice: what an on-call person reads first.
//
// Called by Collector for every change of a verdict worth telling: established or supported ones.
// Thread-safety: pure function. Errors: none.
#ifndef FATHOM_COLLECTOR_NOTIFY_VERDICT_NOTICE_H_
#define FATHOM_COLLECTOR_NOTIFY_VERDICT_NOTICE_H_

#include <string>

#include "collector/notify/notice.h"
#include "collector/verdict/episode.h"

namespace fathom::collector {

// A lead (hypothesis, unknown) wakes nobody up.
bool WorthTelling(const Episode& episode);

// `page_url`: where people reach the page; empty: no link. Hangs are critical, the rest is warning.
Notice NoticeOf(const Episode& episode, const std::string& page_url);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NOTIFY_VERDICT_NOTICE_H_
