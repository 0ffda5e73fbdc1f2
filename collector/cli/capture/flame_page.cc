#include "collector/cli/capture/flame_page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr int kRowPixels = 19;

struct Node {
  double mine = 0, peers = 0;
  std::map<std::string, Node> inner;
};

void AddTo(Node& root, const PathShares& shares, double Node::*of) {
  for (const auto& [path, share] : shares) {
    Node* node = &root;
    node->*of += share;
    for (const std::string& frame : path) {
      node = &node->inner[frame];
      node->*of += share;
    }
  }
}

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// From white, as dark as a difference of a fifth of the time at most.
std::string Colour(const Node& node) {
  const double beyond = node.mine - node.peers;
  const int pale = 235 - static_cast<int>(150 * std::min(1.0, std::abs(beyond) / 0.2));
  return beyond >= 0 ? absl::StrFormat("rgb(245,%d,%d)", pale, pale)
                     : absl::StrFormat("rgb(%d,%d,245)", pale, pale);
}

class Writer {
 public:
  void Write(const std::string& name, const Node& node, double left, int depth) {
    if (node.mine < kLeastShare) {
      left_out_ += node.mine;
      return;
    }
    deepest_ = std::max(deepest_, depth);
    AppendTo(&boxes_,
             absl::StrFormat("<div style=\"left:%.3f%%;width:%.3f%%;top:%dpx;"
                             "background:%s\" title=\"%s: %.1f %% of its time, %.1f %% "
                             "of its peers'\">%s</div>\n",
                             100 * left, 100 * node.mine, depth * kRowPixels, Colour(node),
                             Escaped(name), 100 * node.mine, 100 * node.peers, Escaped(name)));
    for (const auto& [frame, inner] : node.inner) {
      Write(frame, inner, left, depth + 1);
      left += inner.mine;
    }
  }
  const std::string& boxes() const { return boxes_; }
  int height() const { return (deepest_ + 1) * kRowPixels; }
  double left_out() const { return left_out_; }

 private:
  std::string boxes_;
  int deepest_ = 0;
  double left_out_ = 0;
};

constexpr std::string_view kStyle =
    "body{font:13px system-ui,sans-serif;margin:16px;color:#222}"
    ".f{position:relative}.f div{position:absolute;box-sizing:border-box;height:18px;"
    "overflow:hidden;white-space:nowrap;border-radius:2px;padding:1px 3px;"
    "border-right:1px solid #fff;font-size:12px}";

}  // namespace

std::string FlamePage(const StackDifference& difference, const std::string& job) {
  Node root;
  AddTo(root, difference.mine, &Node::mine);
  AddTo(root, difference.peers, &Node::peers);
  Writer writer;
  writer.Write(Cat("rank ", difference.rank), root, 0, 0);
  const std::string body =
      difference.mine.empty()
          ? "<p>No stacks were captured.</p>"
          : Cat("<p>As wide as its share of the rank's time; red: more than its peers spend there, "
                "blue: less. Left out: ",
                Percent(writer.left_out()),
                " in thin frames.</p><div class=\"f\" style=\"height:", writer.height(), "px\">\n",
                writer.boxes(), "</div>");
  return Cat("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>", Escaped(job),
             ": rank ", difference.rank, "</title><style>", kStyle, "</style></head><body><h1>",
             Escaped(job), ": rank ", difference.rank, " against its peers</h1>", body,
             "</body></html>\n");
}

}  // namespace fathom::cli
