#include "collector/cli/render/step_lines.h"

#include "collector/cli/render/quantity.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

std::size_t Size(const Json& step, const char* field) {
  return static_cast<std::size_t>(IntField(step, field));
}

}  // namespace

std::vector<std::string> StepParagraphs(const Json& step) {
  const std::string missing = TextField(step, "missing");
  if (!missing.empty()) return {Cat("what bounds an iteration is not told: needs ", missing)};
  const std::string sentence = TextField(step, "sentence");
  if (sentence.empty()) return {};
  std::vector<std::string> out = {Cat(sentence, " (Mean of ",
                                      Counted(Size(step, "iterations"), "iteration"), " of ",
                                      Counted(Size(step, "ranks"), "rank"), ".)")};
  const std::string advice = TextField(step, "advice");
  if (!advice.empty()) out.push_back(advice);
  return out;
}

std::string StepBlock(const Json& step, bool advice, const Terminal& terminal) {
  if (!TextField(step, "missing").empty()) return "";  // it stands among what is not told
  std::vector<std::string> paragraphs = StepParagraphs(step);
  if (paragraphs.empty()) return "";
  if (!advice) paragraphs.resize(1);
  std::string out = Cat(Paint(terminal, Ink::kBold, "What bounds an iteration"), "\n");
  for (const std::string& paragraph : paragraphs) {
    AppendTo(&out, "  ", Wrap(paragraph, TextColumns(terminal) - 2, "  "), "\n");
  }
  return out;
}

}  // namespace fathom::cli
