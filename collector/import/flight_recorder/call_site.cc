#include "collector/import/flight_recorder/call_site.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/strings/str_format.h"
#include "collector/import/reading/text.h"

namespace fathom::collector::flight_recorder {
namespace {

std::string_view TextOf(const Value& frame, std::string_view key) {
  const Value* value = frame.Find(key);
  return value == nullptr ? std::string_view() : value->Text().value_or("");
}

bool IsOwnOfTorch(std::string_view file) {
  constexpr std::string_view kOwn[] = {"-packages/torch/", "/torch/distributed/", "/torch/nn/",
                                       "/torch/autograd/", "/torch/utils/"};
  return file.starts_with("torch/") ||
         std::any_of(std::begin(kOwn), std::end(kOwn),
                     [&](std::string_view part) { return text::Contains(file, part); });
}

std::string Cut(std::string_view text, bool keep_end) {
  if (text.size() > kMostNameBytes) {
    text = keep_end ? text.substr(text.size() - kMostNameBytes) : text.substr(0, kMostNameBytes);
  }
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return out;
}

}  // namespace

std::string CallSite(const Value* frames) {
  if (frames == nullptr) return "";
  const auto& all = frames->Items();
  for (std::size_t i = 0; i < std::min(all.size(), kMostFrames); ++i) {
    const std::string_view file = TextOf(*all[i], "filename");
    if (file.empty() || IsOwnOfTorch(file)) continue;
    const Value* line = all[i]->Find("line");
    const auto number = line == nullptr ? std::nullopt : line->Integer();
    return absl::StrFormat("%s (%s:%d)", Cut(TextOf(*all[i], "name"), false), Cut(file, true),
                           number.value_or(0));
  }
  return "";
}

}  // namespace fathom::collector::flight_recorder
