// Two people with tokens, and how a file of tokens names them.
//
// Used by the tests of logins. Thread-safety: thread-safe. Errors: none.
#ifndef FATHOM_TESTS_COLLECTOR_TOKENS_H_
#define FATHOM_TESTS_COLLECTOR_TOKENS_H_

#include <string>

namespace fathom::collector {

// Hashes by: printf %s TOKEN | sha256sum
inline constexpr char kAnn[] = "ann-0123456789abcdef";
inline constexpr char kAnnHash[] =
    "4aebd70d3e9413c91f66417e4fea3d65096e0723b1d5b84093132287a974a2bd";
inline constexpr char kBob[] = "bob-0123456789abcdef";
inline constexpr char kBobHash[] =
    "f1e8bc0747cb7af2a3e467b91e0f2725de75233957cdd633698b325b4913b244";

// `day`: the last one on which it counts; empty: no such day.
inline std::string TokenLine(const std::string& name, const std::string& role,
                             const std::string& hash, const std::string& day = "") {
  return name + " " + role + " sha256:" + hash + " " + day + "\n";
}

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_TOKENS_H_
