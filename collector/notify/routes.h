// Which receiver hears of which verdict, and when: rules by owner, cause and job.
//
// Read from the file `notify_routes` by config/routes_file.h; used by Notifier, for every notice.
//
// Model: rules are tried in order; the first that fits decides. Without a rule that fits every
// receiver hears, so that nothing is lost by a rule that was forgotten; a rule whose `to` is empty
// silences. A rule adds labels, which are the same for as long as the rules are, and may hold back
// what is not critical in its quiet hours: the newest state goes out when they end, and what began
// and ended within them is not told at all. The runbook is the rule's, else that of `runbook_url`
// for the cause.
//
// Units: minutes of the local day; the offset of local time from UTC is a setting, for the
// collector may stand elsewhere. Thread-safety: plain values, const functions. Errors: none here.
// Cost: O(rules) a notice.
#ifndef FATHOM_COLLECTOR_NOTIFY_ROUTES_H_
#define FATHOM_COLLECTOR_NOTIFY_ROUTES_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/notify/notice.h"

namespace fathom::collector {

struct QuietHours {
  int from = 0;  // minutes since midnight; equal to `to`: the whole day
  int to = 0;
  int offset = 0;  // local time less UTC

  // Until they end; 0 outside of them.
  Nanos Left(WallNs now) const;

  bool operator==(const QuietHours&) const = default;
};

struct Route {
  // Each empty: any.
  std::vector<std::string> owners, causes;
  std::vector<std::string> jobs;  // patterns with * and ?
  std::vector<std::string> to;    // names of receivers; empty: nobody hears
  std::map<std::string, std::string> labels;
  std::string runbook;  // URL; empty: that of the cause
  std::optional<QuietHours> quiet;

  bool Fits(const Notice& notice) const;

  bool operator==(const Route&) const = default;
};

class Routes {
 public:
  Routes() = default;
  // `runbook_url`: with {cause} in the place of the cause, else "#cause" is put behind it; empty:
  // no link.
  Routes(std::vector<Route> routes, std::string runbook_url)
      : routes_(std::move(routes)), runbook_url_(std::move(runbook_url)) {}

  // Adds the labels and the runbook that go with the notice.
  void Mark(Notice& notice) const;
  bool Reaches(std::string_view receiver, const Notice& notice) const;
  // How long the notice is to be held back; 0: not.
  Nanos QuietFor(const Notice& notice, WallNs now) const;

 private:
  const Route* For(const Notice& notice) const;

  std::vector<Route> routes_;
  std::string runbook_url_;
};

// Whether `text` is of the pattern: * stands for any characters, ? for one.
bool FitsPattern(std::string_view pattern, std::string_view text);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NOTIFY_ROUTES_H_
