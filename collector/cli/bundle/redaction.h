// Takes secrets out of text that leaves the house.
//
// Used by `fathom export bundle` for everything it packs. Two nets, because either has holes:
//
//   what is known      words of the files that settings name as tokens or keys, and values of
//                      variables called so; wherever they stand, in logs above all
//   what looks like it values of keys called token, secret, password, …; addresses beyond the host;
//                      Bearer and Basic credentials; JSON web tokens; private keys
//
// Names of jobs, nodes, users, files and hosts stay: a bundle without them tells nothing.
//
// Thread-safety: thread-compatible. Errors: none; a file that cannot be read adds nothing.
// Cost: O(text × known secrets).
#ifndef FATHOM_COLLECTOR_CLI_BUNDLE_REDACTION_H_
#define FATHOM_COLLECTOR_CLI_BUNDLE_REDACTION_H_

#include <set>
#include <string>
#include <string_view>

namespace fathom::cli {

// Whether a setting, variable or field so called holds a secret: "routing_key", "WANDB_API_KEY".
bool IsSecretName(std::string_view name);

class Redaction {
 public:
  // Shorter words would take more out than secrets.
  static constexpr std::size_t kShortest = 6;

  void Know(std::string_view secret);
  // The words of the files that `settings` names: values of `*_file` and `tokens`.
  void KnowFilesOf(std::string_view settings);

  std::string Applied(std::string_view text) const;

 private:
  std::set<std::string, std::less<>> known_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_BUNDLE_REDACTION_H_
