#include "collector/cordon/heard_notices.h"

namespace fathom::cordon {

bool HeardNotices::Heard(const collector::Notice& notice, MonoNs now) const {
  const auto at = told_.find({notice.key, notice.title});
  return at != told_.end() && at->second.summary == notice.summary && now - at->second.at < kAgain;
}

void HeardNotices::Note(const collector::Notice& notice, MonoNs now) {
  std::erase_if(told_, [&](const auto& each) { return now - each.second.at >= kAgain; });
  told_[{notice.key, notice.title}] = {notice.summary, now};
}

void HeardNotices::Forget(const std::string& key) {
  std::erase_if(told_, [&](const auto& each) { return each.first.first == key; });
}

}  // namespace fathom::cordon
