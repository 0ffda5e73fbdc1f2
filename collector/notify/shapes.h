// Notices in the shapes that receivers understand, as JSON text.
//
// Used by delivery. Sources: Alertmanager's API v2 (POST /api/v2/alerts), PagerDuty's Events API v2
// (dedup_key at most 255 characters, summary 1024), Slack's incoming webhooks, and one of our own.
// Thread-safety: pure functions. Errors: none; over-long texts are cut.
#ifndef FATHOM_COLLECTOR_NOTIFY_SHAPES_H_
#define FATHOM_COLLECTOR_NOTIFY_SHAPES_H_

#include <string>

#include "collector/notify/notice.h"

namespace fathom::collector {

// An array with the one alert. While active its end lies `lifetime` after `now`, so that it ends
// by itself if we do; it is sent anew before that.
std::string AlertmanagerJson(const Notice& notice, WallNs now, Nanos lifetime);
std::string PagerDutyJson(const Notice& notice, const std::string& routing_key);
// What Slack shows of it.
std::string SlackWords(const Notice& notice);
std::string SlackJson(const Notice& notice);
std::string PlainJson(const Notice& notice);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NOTIFY_SHAPES_H_
