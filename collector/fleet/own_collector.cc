#include "collector/fleet/own_collector.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/cli/run/installation.h"

namespace fathom::simulate {
namespace {

constexpr std::chrono::milliseconds kReadyTimeout{10'000};
constexpr std::chrono::milliseconds kGrace{3000};

}  // namespace

absl::StatusOr<std::unique_ptr<OwnCollector>> OwnCollector::Start(const cli::SignalGate& gate) {
  const cli::Installation here = cli::ThisInstallation();
  if (here.collector.empty()) {
    return absl::UnavailableError(
        absl::StrCat("fathom-collector is not beside this program (", here.folder.string(), ")"));
  }
  std::unique_ptr<OwnCollector> own(new OwnCollector());
  auto folder = cli::RunFolder::Make("/dev/shm");
  if (!folder.ok()) return folder.status();
  own->folder_ = *std::move(folder);
  auto child = cli::Companion::Start(
      {"fathom-collector",
       {here.collector.string(), "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store",
        ":memory:", "--log-level", "warning", "--parent-death-signal"},
       own->folder_->path() / "collector.log",
       kGrace},
      gate, cli::In(kReadyTimeout));
  if (!child.ok()) return child.status();
  own->child_ = *std::move(child);
  if (!own->child_->listening().contains("grpc") || !own->child_->listening().contains("http")) {
    return absl::UnavailableError("fathom-collector did not say where it listens");
  }
  return own;
}

}  // namespace fathom::simulate
