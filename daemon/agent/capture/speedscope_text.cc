#include "daemon/agent/capture/speedscope_text.h"

#include <algorithm>
#include <charconv>
#include <functional>

namespace fathom::agent {
namespace {

constexpr std::string_view kBegins = "{\"$schema\"";
constexpr int kMaxNesting = 16;

// Walks over JSON. After the first thing that is not as it should be nothing more is taken.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool ok() const { return ok_; }

  // Calls `field` with each name; it takes the value.
  void Object(const std::function<void(const std::string& name)>& field) {
    List('{', '}', [&] {
      const std::string name = String();
      Expect(':');
      field(name);
    });
  }
  void Array(const std::function<void()>& element) { List('[', ']', element); }

  // What is escaped by number is of no use in a name, and told as '?'.
  std::string String() {
    std::string out;
    Expect('"');
    while (ok_ && at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] != '\\') {
        out.push_back(text_[at_++]);
        continue;
      }
      const char escaped = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      const bool itself = escaped == '"' || escaped == '\\' || escaped == '/';
      out.push_back(itself ? escaped : '?');
      at_ += escaped == 'u' ? 6 : 2;
    }
    Expect('"');
    return out;
  }

  // 0 for what is none.
  std::uint32_t Number() {
    if (Next() < '0' || Next() > '9') {
      SkipWord();
      return 0;
    }
    std::uint32_t number = 0;
    const char* const begin = text_.data() + std::min(at_, text_.size());
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    ok_ = ok_ && error == std::errc();
    at_ += static_cast<std::size_t>(end - begin);
    return number;
  }

  void Skip() {
    switch (Next()) {
      case '{':
        return Object([this](const std::string&) { Skip(); });
      case '[':
        return Array([this] { Skip(); });
      case '"':
        String();
        return;
      default:
        SkipWord();
    }
  }

 private:
  void Space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  char Next() {
    Space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char wanted) {
    if (!ok_ || Next() != wanted) return false;
    ++at_;
    return true;
  }
  void Expect(char wanted) { ok_ = Take(wanted) && ok_; }
  // A number, true, false, null.
  void SkipWord() {
    const std::size_t end = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    ok_ = ok_ && end > at_;
    at_ = end;
  }
  void List(char open, char close, const std::function<void()>& element) {
    Expect(open);
    if (++nesting_ > kMaxNesting) ok_ = false;
    if (!Take(close)) {
      do {
        if (ok_) element();
      } while (Take(','));
      Expect(close);
    }
    --nesting_;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  bool ok_ = true;
};

SpeedscopeFrame FrameOf(Scanner& scanner) {
  SpeedscopeFrame frame;
  scanner.Object([&](const std::string& name) {
    if (name == "name") {
      frame.name = scanner.String();
    } else if (name == "file") {
      frame.file = scanner.String();
    } else if (name == "line") {
      frame.line = scanner.Number();
    } else {
      scanner.Skip();
    }
  });
  return frame;
}

std::vector<SpeedscopeSample> SamplesOf(Scanner& scanner) {
  std::vector<SpeedscopeSample> samples;
  scanner.Object([&](const std::string& name) {
    if (name != "samples") return scanner.Skip();
    scanner.Array([&] {
      SpeedscopeSample& sample = samples.emplace_back();
      scanner.Array([&] { sample.push_back(scanner.Number()); });
    });
  });
  return samples;
}

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
  Scanner scanner(text.substr(begin));
  SpeedscopeText told;
  scanner.Object([&](const std::string& name) {
    if (name == "profiles") {
      scanner.Array([&] { told.threads.push_back(SamplesOf(scanner)); });
    } else if (name == "shared") {
      scanner.Object([&](const std::string& inner) {
        if (inner != "frames") return scanner.Skip();
        scanner.Array([&] { told.frames.push_back(FrameOf(scanner)); });
      });
    } else {
      scanner.Skip();
    }
  });
  if (!scanner.ok() || !AllThere(told)) return std::nullopt;
  return told;
}

}  // namespace fathom::agent
