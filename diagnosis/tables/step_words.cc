#include "diagnosis/tables/step_words.h"

#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

struct Words {
  std::string_view name;  // in the report
  const char* part;       // in the list of parts
  const char* noun;       // in a sentence
  const char* advice;
};

constexpr std::array<Words, kStepParts> kWords = {{
    {"computing", "computing", "computing",
     "Only faster kernels or less work would help: fathom profile JOB names the kernels of a GPU, "
     "a "
     "profiler's trace (fathom analyze TRACE) the ops of a job on the CPU."},
    {"copies", "copies", "copies to and from the GPU",
     "Copy from pinned memory with non_blocking=True on a stream of its own, and keep on the GPU "
     "what is used again."},
    {"input", "data loader", "the data loader",
     "Give the data loader more workers and a larger prefetch_factor, and look at its storage and "
     "at what it does to each sample."},
    {"host", "host", "the host",
     "The GPU waits for launches: avoid synchronisations (item(), print of a tensor), fuse kernels "
     "(torch.compile) or replay them as CUDA graphs."},
    {"communication", "communication", "communication",
     "Overlap it with computing (size of buckets, prefetch of shards), or send less (bf16 "
     "gradients, accumulation over micro-batches)."},
    {"waiting", "waiting for other ranks", "waiting for other ranks",
     "A verdict names whom they wait for. Without one the ranks have unequal work or take turns at "
     "being late: LATE in the table of ranks, and the communicators of the page, show who."},
    {"garbage", "garbage collection", "garbage collection",
     "Call gc.freeze() after the model is built, and gc.collect() every some hundred iterations "
     "instead of letting it run at any time."},
    {"cores", "waiting for a core", "waiting for a core",
     "More threads want to run than there are cores: fewer data loader workers or a lower "
     "OMP_NUM_THREADS, more cores, or nobody else on the node."},
    {"gpu", "untraced GPU time", "untraced GPU time",
     "What the GPU does is not traced: fathom profile JOB opens a window that tells computing from "
     "communication."},
    {"idle", "idle", "idle time",
     "The training thread neither computes nor waits for anything that is traced: sleeps, locks, "
     "files, logging. Its stack tells: py-spy dump --pid PID."},
}};

const Words& WordsOf(StepPart part) { return kWords[static_cast<std::size_t>(part)]; }

std::string Percent(double share) {
  return absl::StrCat(static_cast<int>(std::lround(share * 100)), " %");
}

std::string Parts(const StepBound& bound) {
  constexpr double kLeastShown = 0.005;
  std::string out;
  for (const StepBound::Part& each : bound.parts) {
    if (each.seconds < kLeastShown * bound.step_s) continue;
    absl::StrAppend(&out, out.empty() ? "" : ", ", WordsOf(each.part).part, " ",
                    Percent(each.seconds / bound.step_s));
  }
  return out;
}

}  // namespace

std::string_view ToString(StepPart part) { return WordsOf(part).name; }

std::string_view ToString(StepClock clock) {
  constexpr std::array<std::string_view, 3> kNames = {"thread", "device", "host"};
  return kNames[static_cast<std::size_t>(clock)];
}

std::string InWords(const StepBound& bound) {
  const std::vector<StepPart> bounds = bound.Bounds();
  if (bounds.empty()) return "";
  std::string out =
      absl::StrCat("An iteration takes ", Duration(bound.step_s), ": ", Parts(bound), ". ");
  absl::StrAppend(&out, "It is bound by ", WordsOf(bounds.front()).noun);
  if (bounds.size() > 1) absl::StrAppend(&out, " and ", WordsOf(bounds.back()).noun, " alike");
  const StepBound::Part* loss = bound.Loss();
  if (loss == nullptr) return out + "; nothing else takes a twentieth of it.";
  const bool same = loss->part == bounds.front() || loss->part == bounds.back();
  const std::string most =
      absl::StrCat(Duration(loss->seconds), " (", Percent(loss->seconds / bound.step_s), ")");
  if (same) return absl::StrCat(out, ", which takes ", most, " of it.");
  return absl::StrCat(out, "; most is to be won from ", WordsOf(loss->part).noun, ", ", most, ".");
}

std::string AdviceOn(const StepBound& bound) {
  if (!bound.known() || bound.parts.empty()) return "";
  const StepBound::Part* loss = bound.Loss();
  return WordsOf(loss != nullptr ? loss->part : bound.parts.front().part).advice;
}

}  // namespace fathom::diagnosis
