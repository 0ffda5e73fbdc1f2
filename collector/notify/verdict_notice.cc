#include "collector/notify/verdict_notice.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

namespace fathom::collector {
bool WorthTelling(const Episode& episode) { return diagnosis::Convicts(episode.verdict); }

Notice NoticeOf(const Episode& episode, const std::string& page_url) {
  const diagnosis::Verdict& verdict = episode.verdict;
  Notice notice;
  notice.key = episode.id;
  notice.title = "FathomVerdict";
  notice.matter = absl::StrCat(
      std::string(ToString(verdict.grade)), " ", std::string(ToString(verdict.cause)), " ",
      absl::StrJoin(verdict.entity.ranks, ",",
                    [](std::string* out, RankId rank) { absl::StrAppend(out, rank.value); }),
      " ", verdict.entity.node, " ", verdict.entity.gpu);
  notice.severity = IsHang(verdict) ? Severity::kCritical : Severity::kWarning;
  notice.summary = verdict.sentence;
  notice.description = absl::StrCat("Grade: ", std::string(ToString(verdict.grade)), ".");
  if (!verdict.entity.gpu.empty()) {
    notice.description += absl::StrCat(" GPU: ", verdict.entity.gpu, ".");
  }
  if (!verdict.evidence.empty()) {
    notice.description += " " + verdict.evidence.front().statement;
  }
  if (!verdict.action_text.empty()) notice.description += " To do: " + verdict.action_text;
  if (!episode.open()) notice.description += " Over: " + episode.closed_because;
  // Labels say which alert it is, so nothing that changes within an episode may be one.
  notice.labels = {{"job", episode.job},
                   {"cause", std::string(ToString(verdict.cause))},
                   {"owner", std::string(ToString(verdict.owner))}};
  if (!verdict.entity.node.empty()) notice.labels["node"] = verdict.entity.node;
  if (!page_url.empty()) notice.link = absl::StrCat(page_url, "/#/verdict/", episode.id);
  notice.began = verdict.since_time.known() ? verdict.since_time : episode.opened;
  notice.over = episode.closed;
  return notice;
}

}  // namespace fathom::collector
