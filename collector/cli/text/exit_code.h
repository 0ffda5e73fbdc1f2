// The exit codes of every verb but `run`, which returns that of its command.
//
// docs/operations/cli.md explains them. "A culprit was found" means: a verdict graded established
// or supported; weaker grades are leads, not findings.
// Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_CLI_TEXT_EXIT_CODE_H_
#define FATHOM_COLLECTOR_CLI_TEXT_EXIT_CODE_H_

namespace fathom::cli {

inline constexpr int kNothingFound = 0;
inline constexpr int kFailure = 1;
inline constexpr int kCulpritFound = 2;
inline constexpr int kInterrupted = 130;  // as a shell shows SIGINT

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_TEXT_EXIT_CODE_H_
