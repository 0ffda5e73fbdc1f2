#include "collector/notify/routes.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>

namespace fathom::collector {
namespace {

constexpr int kDayMinutes = 24 * 60;
constexpr std::int64_t kMinute = 60LL * 1'000'000'000;

std::string Label(const Notice& notice, const char* name) {
  const auto at = notice.labels.find(name);
  return at == notice.labels.end() ? "" : at->second;
}

bool Among(const std::vector<std::string>& list, const std::string& text) {
  return list.empty() || std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

bool FitsPattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] == text[t] && pattern[p] != '*'))) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++, mark = t;
    } else if (star != pattern.npos) {
      p = star + 1, t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Nanos QuietHours::Left(WallNs now) const {
  const std::int64_t day = kDayMinutes * kMinute;
  const std::int64_t local = ((now.ns + offset * kMinute) % day + day) % day;
  // Since they began last, and how long they are.
  const std::int64_t since = (local - from * kMinute + day) % day;
  const std::int64_t lasts = from == to ? day : ((to - from + kDayMinutes) % kDayMinutes) * kMinute;
  return Nanos(std::max<std::int64_t>(0, lasts - since));
}

bool Route::Fits(const Notice& notice) const {
  const std::string job = Label(notice, "job");
  const bool of_job =
      jobs.empty() || std::any_of(jobs.begin(), jobs.end(), [&](const std::string& pattern) {
        return FitsPattern(pattern, job);
      });
  return of_job && Among(owners, Label(notice, "owner")) && Among(causes, Label(notice, "cause"));
}

const Route* Routes::For(const Notice& notice) const {
  const auto at = std::find_if(routes_.begin(), routes_.end(),
                               [&](const Route& route) { return route.Fits(notice); });
  return at == routes_.end() ? nullptr : &*at;
}

void Routes::Mark(Notice& notice) const {
  const Route* route = For(notice);
  const std::string cause = Label(notice, "cause");
  if (route != nullptr) {
    notice.labels.insert(route->labels.begin(), route->labels.end());
    notice.runbook = route->runbook;
  }
  if (!notice.runbook.empty() || runbook_url_.empty() || cause.empty()) return;
  const bool place = runbook_url_.find("{cause}") != std::string::npos;
  notice.runbook = place ? absl::StrReplaceAll(runbook_url_, {{"{cause}", cause}})
                         : absl::StrCat(runbook_url_, "#", cause);
}

bool Routes::Reaches(std::string_view receiver, const Notice& notice) const {
  const Route* route = For(notice);
  return route == nullptr ||
         std::find(route->to.begin(), route->to.end(), receiver) != route->to.end();
}

Nanos Routes::QuietFor(const Notice& notice, WallNs now) const {
  const Route* route = For(notice);
  if (route == nullptr || !route->quiet || notice.severity == Severity::kCritical) return Nanos();
  return route->quiet->Left(now);
}

}  // namespace fathom::collector
