#include "daemon/agent/capture/speedscope_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace fathom::agent {
namespace {

constexpr std::string_view kBegins = "{\"$schema\"";
constexpr std::size_t kMaxNesting = 16;
constexpr std::uint64_t kMaxNumber = ~std::uint32_t{0};

// Takes what is known from a JSON reader that tells one thing after the other. False: no more is
// read.
class SpeedscopeReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit SpeedscopeReader(SpeedscopeText& told) : told_(told) {}

  bool start_object(std::size_t) override { return Enter(ObjectHere()); }
  bool start_array(std::size_t) override { return Enter(ListHere()); }
  bool end_object() override { return Leave(); }
  bool end_array() override { return Leave(); }
  bool key(string_t& name) override {
    key_.swap(name);
    return true;
  }
  bool string(string_t& text) override {
    if (Here() == In::kFrame && key_ == "name") told_.frames.back().name.swap(text);
    if (Here() == In::kFrame && key_ == "file") told_.frames.back().file.swap(text);
    return Here() != In::kSample;
  }
  bool number_unsigned(number_unsigned_t number) override {
    const bool line = Here() == In::kFrame && key_ == "line", place = Here() == In::kSample;
    if ((line || place) && number > kMaxNumber) return false;
    if (line) told_.frames.back().line = static_cast<std::uint32_t>(number);
    if (place) told_.threads.back().back().push_back(static_cast<std::uint32_t>(number));
    return true;
  }
  // A frame without a line has 0; a sample has places only.
  bool null() override { return Here() != In::kSample; }
  bool boolean(bool) override { return Here() != In::kSample; }
  bool number_integer(number_integer_t) override { return Here() != In::kSample; }
  bool number_float(number_float_t, const string_t&) override { return Here() != In::kSample; }
  bool binary(binary_t&) override { return false; }  // not of a text
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  enum class In : std::uint8_t {
    kNothing,
    kWhole,
    kProfiles,
    kProfile,
    kSamples,
    kSample,
    kShared,
    kFrames,
    kFrame,
    kOther
  };

  In Here() const { return within_.empty() ? In::kNothing : within_.back(); }
  In ObjectHere() const {
    if (Here() == In::kNothing) return In::kWhole;
    if (Here() == In::kProfiles) return In::kProfile;
    if (Here() == In::kFrames) return In::kFrame;
    return Here() == In::kWhole && key_ == "shared" ? In::kShared : In::kOther;
  }
  In ListHere() const {
    if (Here() == In::kWhole && key_ == "profiles") return In::kProfiles;
    if (Here() == In::kProfile && key_ == "samples") return In::kSamples;
    if (Here() == In::kSamples) return In::kSample;
    return Here() == In::kShared && key_ == "frames" ? In::kFrames : In::kOther;
  }
  bool Enter(In part) {
    if (part == In::kProfile) told_.threads.emplace_back();
    if (part == In::kSample) told_.threads.back().emplace_back();
    if (part == In::kFrame) told_.frames.emplace_back();
    within_.push_back(part);
    return within_.size() <= kMaxNesting;
  }
  bool Leave() {
    within_.pop_back();
    return true;
  }

  SpeedscopeText& told_;
  std::vector<In> within_;
  std::string key_;  // the newest
};

bool AllThere(const SpeedscopeText& told) {
  for (const auto& thread : told.threads) {
    for (const SpeedscopeSample& sample : thread) {
      const bool there = std::all_of(sample.begin(), sample.end(), [&](std::uint32_t place) {
        return place < told.frames.size();
      });
      if (!there) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<SpeedscopeText> ReadSpeedscope(std::string_view text) {
  const std::size_t begin = text.find(kBegins);
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  SpeedscopeText told;
  SpeedscopeReader reader(told);
  // Not strict: behind it py-spy says how it went.
  const bool whole = nlohmann::json::sax_parse(text.begin(), text.end(), &reader,
                                               nlohmann::json::input_format_t::json, false);
  if (!whole || !AllThere(told)) return std::nullopt;
  return told;
}

}  // namespace fathom::agent
