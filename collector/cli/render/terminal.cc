#include "collector/cli/render/terminal.h"
#include "collector/cli/text/text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace fathom::cli {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string_view Code(Ink ink) {
  switch (ink) {
    case Ink::kBold:
      return "1";
    case Ink::kDim:
      return "2";
    case Ink::kRed:
      return "1;31";
    case Ink::kYellow:
      return "33";
    case Ink::kGreen:
      return "32";
    case Ink::kCyan:
      return "36";
    case Ink::kPlain:
      break;
  }
  return "";
}

}  // namespace

Terminal LookAtTerminal(int fd) {
  Terminal out;
  out.interactive = isatty(fd) == 1;
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  out.colour = out.interactive && term != nullptr && std::string_view(term) != "dumb" &&
               (no_color == nullptr || *no_color == '\0');
  winsize size{};
  if (out.interactive && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) {
    out.columns = size.ws_col;
  }
  return out;
}

std::size_t TextColumns(const Terminal& terminal) {
  return static_cast<std::size_t>(std::max(terminal.columns, 40));
}

std::string Paint(const Terminal& terminal, Ink ink, std::string_view text) {
  if (!terminal.colour || ink == Ink::kPlain || text.empty()) return std::string(text);
  return Cat("\x1b[", Code(ink), "m", text, "\x1b[0m");
}

std::size_t DisplayWidth(std::string_view text) {
  std::size_t width = 0;
  bool escape = false;
  for (const char c : text) {
    if (escape) {
      escape = c != 'm';
    } else if (c == '\x1b') {
      escape = true;
    } else if (!IsContinuation(c)) {
      ++width;
    }
  }
  return width;
}

std::string CutToWidth(std::string_view text, std::size_t columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  const std::size_t keep = columns > 3 ? columns - 3 : columns;
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    if (!IsContinuation(text[at]) && seen++ == keep) break;
  }
  return Cat(text.substr(0, at), columns > 3 ? "..." : "");
}

std::string Wrap(std::string_view text, std::size_t columns, std::string_view indent) {
  std::string out;
  std::size_t used = 0;
  for (const std::string_view word : SplitWords(text, " ")) {
    const std::size_t width = DisplayWidth(word);
    if (used > 0 && used + 1 + width > columns) {
      AppendTo(&out, "\n", indent);
      used = 0;
    }
    AppendTo(&out, used > 0 ? " " : "", word);
    used += width + (used > 0 ? 1 : 0);
  }
  return out;
}

}  // namespace fathom::cli
