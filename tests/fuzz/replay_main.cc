// Runs a fuzz target over its corpus without libFuzzer, so that every build replays it.
//
// Usage: TARGET [--mutate ROUNDS [--seed N]] FILE|FOLDER... Exit 1 if a named path cannot be read.
// --mutate goes on with inputs that are changed at random, for machines without Clang: no coverage
// leads it. Round r of seed s is round 0 of seed s + r; what a round dies of is found again by it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

std::size_t Below(std::mt19937_64& random, std::size_t bound) {
  return bound == 0 ? 0 : static_cast<std::size_t>(random() % bound);
}

// One change: bytes flipped, lost, doubled, cut off, replaced by what breaks parsers, or by a piece
// of another input.
void Change(const std::vector<Bytes>& corpus, std::mt19937_64& random, Bytes& input) {
  static const std::vector<std::string> kAwkward = {"-1",
                                                    "0",
                                                    "18446744073709551615",
                                                    "9223372036854775808",
                                                    "1e999",
                                                    "nan",
                                                    "\"",
                                                    "{",
                                                    "}",
                                                    "[",
                                                    "\\u0000",
                                                    std::string(4, '\0'),
                                                    "\xff\xff\xff\x7f",
                                                    "\xff\xff\xff\xff\xff\xff\xff\xff"};
  const std::size_t at = Below(random, input.size() + 1);
  const auto here = input.begin() + static_cast<std::ptrdiff_t>(at);
  const std::size_t some = Below(random, std::min<std::size_t>(input.size() - at, 64) + 1);
  const auto there = here + static_cast<std::ptrdiff_t>(some);
  const Bytes& other = corpus[Below(random, corpus.size())];
  const std::string& text = kAwkward[Below(random, kAwkward.size())];
  switch (Below(random, 6)) {
    case 0:
      if (at < input.size()) input[at] ^= static_cast<std::uint8_t>(1U << Below(random, 8));
      break;
    case 1:
      input.erase(here, there);
      break;
    case 2: {
      const Bytes piece(here, there);
      input.insert(here, piece.begin(), piece.end());
      break;
    }
    case 3:
      if (Below(random, 8) == 0) input.resize(at);
      break;
    case 4:
      input.insert(input.erase(here, there), text.begin(), text.end());
      break;
    default: {
      const std::size_t from = Below(random, other.size());
      const std::size_t count = std::min<std::size_t>(other.size() - from, Below(random, 256));
      const auto first = other.begin() + static_cast<std::ptrdiff_t>(from);
      input.insert(here, first, first + static_cast<std::ptrdiff_t>(count));
    }
  }
}

void Mutate(const std::vector<Bytes>& corpus, std::uint64_t rounds, std::uint64_t seed) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::mt19937_64 random(seed + round);
    Bytes input = corpus[Below(random, corpus.size())];
    for (std::size_t changes = 1 + Below(random, 8); changes > 0; --changes) {
      Change(corpus, random, input);
    }
    if (round % 1024 == 0) std::cerr << "seed " << seed + round << "\n";
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
}

bool Replay(const std::filesystem::path& path, std::vector<Bytes>& corpus) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::cerr << "cannot read " << path << "\n";
    return false;
  }
  corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  LLVMFuzzerTestOneInput(corpus.back().data(), corpus.back().size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  LLVMFuzzerTestOneInput(nullptr, 0);
  std::vector<Bytes> corpus;
  std::uint64_t rounds = 0, seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (i + 1 < argc && (word == "--mutate" || word == "--seed")) {
      (word == "--seed" ? seed : rounds) = std::strtoull(argv[++i], nullptr, 10);
      continue;
    }
    const std::filesystem::path path = argv[i];
    if (!std::filesystem::is_directory(path)) {
      if (!Replay(path, corpus)) return 1;
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file() && !Replay(entry.path(), corpus)) return 1;
    }
  }
  std::cout << "replayed " << corpus.size() << " inputs\n";
  if (argc > 1 && corpus.empty()) return 1;
  Mutate(corpus, rounds, seed);
  return 0;
}
