#include "diagnosis/history/job_profile.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/model/short_id.h"

namespace fathom::diagnosis {
namespace {

bool Near(double a, double b) {
  const double largest = std::max({std::abs(a), std::abs(b), 1.0});
  return std::abs(a - b) <= JobProfile::kTolerance * largest;
}

std::string Bytes(double bytes) {
  if (bytes >= 1e9) return absl::StrFormat("%.3g GB", bytes / 1e9);
  if (bytes >= 1e6) return absl::StrFormat("%.3g MB", bytes / 1e6);
  if (bytes >= 1e3) return absl::StrFormat("%.3g kB", bytes / 1e3);
  return absl::StrFormat("%.0f B", bytes);
}

std::string PartName(const WorkPart& part) {
  return absl::StrCat(std::string(CollectiveKindName(part.kind)), " among ", part.group_size);
}

std::string Text(const std::string& text) { return text.empty() ? "none" : text; }

std::string WorkDiffers(const WorkPart& part, const WorkPart& other) {
  if (!Near(part.calls, other.calls)) {
    return absl::StrFormat("%.0f calls of %s an iteration instead of %.0f", part.calls,
                           PartName(part), other.calls);
  }
  if (Near(part.bytes, other.bytes)) return "";
  return absl::StrCat(Bytes(part.bytes), " an iteration in ", PartName(part), " instead of ",
                      Bytes(other.bytes));
}

std::string WhyOtherWork(const std::vector<WorkPart>& work, const std::vector<WorkPart>& other) {
  for (std::size_t i = 0; i < std::max(work.size(), other.size()); ++i) {
    if (i >= work.size()) return absl::StrCat("no ", PartName(other[i]));
    if (i >= other.size()) return absl::StrCat(PartName(work[i]), ", which the other lacks");
    if (work[i].group_size != other[i].group_size || work[i].kind != other[i].kind) {
      return absl::StrCat(PartName(work[i]), " instead of ", PartName(other[i]));
    }
    if (const std::string why = WorkDiffers(work[i], other[i]); !why.empty()) return why;
  }
  return "";
}

}  // namespace

std::string ProfileId(const JobProfile& profile) {
  std::string text = absl::StrCat(profile.name, "|", profile.program, "|", profile.device, "|",
                                  profile.framework, "|", profile.world_size);
  for (const WorkPart& part : profile.work) {
    absl::StrAppend(&text, "|", part.group_size, ":", static_cast<int>(part.kind));
  }
  return ShortId('p', text);
}

std::string WhyOther(const JobProfile& profile, const JobProfile& other) {
  if (!profile.known() || !other.known()) return "what it does in an iteration is not known";
  if (profile.world_size != other.world_size) {
    return absl::StrCat(profile.world_size, " ranks instead of ", other.world_size);
  }
  const struct {
    const char* what;
    const std::string &mine, &theirs;
  } kTexts[] = {{"profile", profile.name, other.name},
                {"program", profile.program, other.program},
                {"device", profile.device, other.device},
                {"framework", profile.framework, other.framework}};
  for (const auto& [what, mine, theirs] : kTexts) {
    if (mine != theirs) return absl::StrCat(what, " ", Text(mine), " instead of ", Text(theirs));
  }
  return WhyOtherWork(profile.work, other.work);
}

std::string ProfileInWords(const JobProfile& profile) {
  std::string text = profile.name.empty() ? profile.program : profile.name;
  if (text.empty()) text = "a job";
  absl::StrAppend(&text, ", ", profile.world_size, profile.world_size == 1 ? " rank" : " ranks");
  if (!profile.framework.empty()) absl::StrAppend(&text, ", ", profile.framework);
  if (!profile.device.empty()) absl::StrAppend(&text, " on ", profile.device);
  const char* between = ": ";
  for (const WorkPart& part : profile.work) {
    absl::StrAppend(&text, between, absl::StrFormat("%.0f", part.calls), " ", PartName(part), ", ",
                    Bytes(part.bytes));
    between = "; ";
  }
  return text;
}

}  // namespace fathom::diagnosis
