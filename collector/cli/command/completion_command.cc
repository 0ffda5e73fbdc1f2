// `fathom completion SHELL`: completion scripts, made from the verbs and options that are there.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "collector/cli/command/verb.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  source <(fathom completion bash)\n"
    "  fathom completion zsh > ~/.zfunc/_fathom\n"
    "  fathom completion fish > ~/.config/fish/completions/fathom.fish";

struct VerbWords {
  std::string name, description;
  std::vector<std::string> words;  // options, and the words its first argument can be
};

std::vector<std::string> ArgumentWords(const std::string& verb) {
  if (verb == "get") return {"jobs", "ranks", "verdicts", "nodes", "actions"};
  if (verb == "export") return {"bundle"};
  if (verb == "completion") return {"bash", "zsh", "fish"};
  return {};
}

std::vector<std::string> OptionsOf(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<VerbWords> WordsOf(const CLI::App& root) {
  std::vector<VerbWords> out;
  for (const CLI::App* verb : root.get_subcommands(nullptr)) {
    if (verb->get_group().empty()) continue;
    VerbWords words{verb->get_name(), verb->get_description(), ArgumentWords(verb->get_name())};
    for (std::string& option : OptionsOf(*verb)) words.words.push_back(std::move(option));
    for (const CLI::App* noun : verb->get_subcommands(nullptr)) {
      words.words.push_back(noun->get_name());
      for (const std::string& option : OptionsOf(*noun)) {
        if (std::count(words.words.begin(), words.words.end(), option) == 0) {
          words.words.push_back(option);
        }
      }
    }
    out.push_back(std::move(words));
  }
  return out;
}

std::string Bash(const std::vector<VerbWords>& verbs) {
  std::string cases, names;
  for (const VerbWords& v : verbs) {
    AppendTo(&names, names.empty() ? "" : " ", v.name);
    AppendTo(&cases, "    ", v.name, ") words=\"", Join(v.words, " "), "\" ;;\n");
  }
  return Cat(
      "_fathom() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    [[ ${COMP_WORDS[i]} == -- ]] && { _command_offset $((i + 1)) 2>/dev/null; return; }\n"
      "  done\n  case ${COMP_WORDS[1]} in\n",
      cases, "  esac\n  ((COMP_CWORD == 1)) && words=\"", names,
      "\"\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
      "complete -o default -F _fathom fathom\n");
}

std::string Zsh(const std::vector<VerbWords>& verbs) {
  std::string cases, names;
  for (const VerbWords& v : verbs) {
    AppendTo(&names, "    '", v.name, ":", v.description, "'\n");
    AppendTo(&cases, "    ", v.name, ") compadd -- ", Join(v.words, " "), " ;;\n");
  }
  return Cat("#compdef fathom\n_fathom() {\n  local -a verbs=(\n", names,
             "  )\n  if ((CURRENT == 2)); then _describe verb verbs; return; fi\n"
             "  case $words[2] in\n",
             cases, "  esac\n  _files\n}\n_fathom \"$@\"\n");
}

std::string Fish(const std::vector<VerbWords>& verbs) {
  std::string out;
  for (const VerbWords& v : verbs) {
    AppendTo(&out, "complete -c fathom -n __fish_use_subcommand -f -a ", v.name, " -d '",
             v.description, "'\n");
    for (const std::string& word : v.words) {
      const bool option = word.rfind("--", 0) == 0;
      AppendTo(&out, "complete -c fathom -n '__fish_seen_subcommand_from ", v.name, "' ",
               option ? "-l " : "-f -a ", option ? word.substr(2) : word, "\n");
    }
  }
  return out;
}

}  // namespace

void AddCompletionVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->footer(kExamples);
  verb->callback([invocation, shell, &root] {
    const std::vector<VerbWords> verbs = WordsOf(root);
    const std::string text = *shell == "bash"  ? Bash(verbs)
                             : *shell == "zsh" ? Zsh(verbs)
                                               : Fish(verbs);
    invocation->action = [text] {
      std::fputs(text.c_str(), stdout);
      return kNothingFound;
    };
  });
}

}  // namespace fathom::cli
