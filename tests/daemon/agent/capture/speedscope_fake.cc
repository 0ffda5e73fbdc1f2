#include "tests/daemon/agent/capture/speedscope_fake.h"

#include <map>
#include <sstream>
#include <vector>

namespace fathom::agent {
namespace {

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// "f (a.py:3)" as an object.
std::string FrameOf(const std::string& part) {
  const std::size_t open = part.rfind(" ("), colon = part.rfind(':');
  const bool placed = part.back() == ')' && open != std::string::npos && colon > open;
  const std::string name = placed ? part.substr(0, open) : part;
  const std::string file = placed ? part.substr(open + 2, colon - open - 2) : "";
  const std::string line = placed ? part.substr(colon + 1, part.size() - colon - 2) : "0";
  return "{\"name\":" + Quoted(name) + ",\"file\":" + Quoted(file) + ",\"line\":" + line +
         ",\"col\":null}";
}

class Text {
 public:
  void Add(const std::string& line) {
    const std::size_t space = line.rfind(' ');
    std::istringstream parts(line.substr(0, space));
    std::string part, sample, thread;
    bool inside = false;
    while (std::getline(parts, part, ';')) {
      if (!inside) thread += part;
      inside = inside || part.starts_with("thread (");
      sample += (sample.empty() ? "" : ",") + std::to_string(PlaceOf(part));
    }
    for (int i = std::stoi(line.substr(space + 1)); i > 0; --i) {
      std::string& samples = threads_[thread];
      samples += (samples.empty() ? "[" : ",[") + sample + "]";
    }
  }

  std::string Told() const {
    std::string profiles;
    for (const auto& [thread, samples] : threads_) {
      profiles += (profiles.empty() ? "" : ",") + std::string("{\"type\":\"sampled\",\"name\":") +
                  Quoted(thread) + ",\"endValue\":0.98,\"samples\":[" + samples +
                  "],\"weights\":[0.01]}";
    }
    return "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":[" +
           profiles + "],\"shared\":{\"frames\":[" + frames_ + "]},\"activeProfileIndex\":null}";
  }

 private:
  std::size_t PlaceOf(const std::string& part) {
    const auto [at, fresh] = places_.try_emplace(part, places_.size());
    if (fresh) frames_ += (frames_.empty() ? "" : ",") + FrameOf(part);
    return at->second;
  }

  std::map<std::string, std::size_t> places_;
  std::string frames_;
  std::map<std::string, std::string> threads_;
};

}  // namespace

std::string Speedscope(const std::string& folded) {
  Text text;
  std::istringstream lines(folded);
  for (std::string line; std::getline(lines, line);) text.Add(line);
  return "py-spy> Sampling process 100 times a second for 4 seconds. Press Control-C to exit.\n" +
         text.Told() + "\npy-spy> Wrote speedscope file to '/dev/stdout'. Samples: 9 Errors: 1\n";
}

}  // namespace fathom::agent
