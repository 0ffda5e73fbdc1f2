// What a stream can show: is it a terminal, how wide, and may it be coloured.
//
// Used wherever the command line writes for people.
// Model: colour only on a terminal, never with NO_COLOR set or TERM=dumb (no-color.org).
// Thread-safety: plain value. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_RENDER_TERMINAL_H_
#define FATHOM_COLLECTOR_CLI_RENDER_TERMINAL_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom::cli {

struct Terminal {
  bool interactive = false;
  bool colour = false;
  int columns = 100;  // where the stream is no terminal too
};

Terminal LookAtTerminal(int fd);

// Columns to lay text out for: never so few that nothing can be said.
std::size_t TextColumns(const Terminal& terminal);

enum class Ink { kPlain, kBold, kDim, kRed, kYellow, kGreen, kCyan };

// `text` in that colour, or as it is where colours are off.
std::string Paint(const Terminal& terminal, Ink ink, std::string_view text);

// Columns that `text` takes: code points, escape sequences of Paint excepted.
std::size_t DisplayWidth(std::string_view text);

// `text` cut to `columns`, with "..." at the end when something is missing. Requires: no escapes.
std::string CutToWidth(std::string_view text, std::size_t columns);

// `text` broken at spaces into lines of at most `columns`, each after the first led by `indent`.
std::string Wrap(std::string_view text, std::size_t columns, std::string_view indent);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_TERMINAL_H_
