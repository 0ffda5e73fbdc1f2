// Any bytes as what fathom-cordon reads. The first line names the reader; the rest is what it gets.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "collector/cordon/advice/advice_source.h"
#include "collector/cordon/audit/audit_log.h"
#include "collector/cordon/audit/record_json.h"
#include "collector/cordon/backend/kubernetes.h"
#include "collector/cordon/backend/slurm.h"
#include "collector/cordon/backend/webhook.h"
#include "collector/cordon/config/cordon_config.h"
#include "collector/cordon/policy/ledger.h"

namespace {

using namespace fathom::cordon;  // NOLINT(google-build-using-namespace)
using Nodes = std::map<std::string, NodeFact>;

const Hold kHold{"n1", "a0123456789ab", "compute_slow", "v1", "rank 1 is slow"};

// Answers whatever is asked with the same text.
class OneAnswer final : public fathom::collector::HttpTransport {
 public:
  explicit OneAnswer(std::string text) : text_(std::move(text)) {}
  absl::StatusOr<fathom::collector::HttpAnswer> Send(
      const fathom::collector::HttpCall& call) override {
    // Nothing that a cluster answers may lead to another node being changed.
    if (call.method == "PATCH" && call.url.find("/nodes/n1") == call.url.npos) std::abort();
    return fathom::collector::HttpAnswer{200, text_, 0};
  }

 private:
  const std::string text_;
};

void Advice(const std::string& text) {
  View view;
  if (ReadVerdictsJson(text, view).ok()) {
    for (const VerdictFact& fact : view.verdicts) {
      if (fact.id.empty() || !(fact.unseen_s >= 0)) std::abort();
      (void)ActionId(fact);
    }
  }
  std::set<std::string> nodes;
  bool runs = false;
  (void)ReadJobJson(text, nodes, runs);
}

void Slurm(const std::string& text) {
  Nodes nodes;
  (void)ReadSinfoLine(text, "rack", nodes);
  (void)OwnerOfReason(text);
  int changes = 0;
  SlurmBackend backend({},
                       [&](const std::vector<std::string>& argv,
                           fathom::Nanos) -> absl::StatusOr<fathom::collector::CommandResult> {
                         changes += argv[0] == "scontrol";
                         return fathom::collector::CommandResult{0, text, ""};
                       });
  (void)backend.Nodes(nodes);
  (void)backend.HoldBack(kHold);
  if (changes > 1) std::abort();
}

void Kubernetes(const std::string& text) {
  static const fathom::collector::SystemClock clock;
  OneAnswer transport(text);
  KubernetesBackend backend({"https://k:1", "", "rack", false}, transport, clock);
  Nodes nodes;
  (void)backend.Nodes(nodes);
  (void)backend.HoldBack(kHold);
  (void)backend.Release("n1", kHold.action);
  (void)backend.Forget("n1", kHold.action);
}

void Audit(const std::string& text) {
  Ledger ledger;
  (void)VerifyAudit(text, [&](const Record& record) { ledger.Fold(record); });
  Record record;
  Link link;
  if (!ReadRecord(text, record, link).ok()) return;
  ledger.Fold(record);
  Record again;
  Link same;
  if (!ReadRecord(WriteRecord(record, link), again, same).ok()) std::abort();
  if (again.kind != record.kind || again.action != record.action) std::abort();
}

void Settings(const std::string& text) {
  const int file = memfd_create("settings", MFD_CLOEXEC);
  if (file < 0) return;
  CordonConfig config;
  if (write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      LoadCordonFile("/proc/self/fd/" + std::to_string(file), config).ok()) {
    (void)PrintCordonConfig(config);
    (void)Validate(config.limits);
  }
  close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto end = all.find('\n');
  if (end == all.npos) return 0;
  const std::string_view reader = all.substr(0, end);
  const std::string text(all.substr(end + 1));
  Nodes nodes;
  if (reader == "advice") Advice(text);
  if (reader == "slurm") Slurm(text);
  if (reader == "kubernetes") Kubernetes(text);
  if (reader == "webhook") (void)ReadWebhookNodes(text, nodes);
  if (reader == "audit") Audit(text);
  if (reader == "settings") Settings(text);
  return 0;
}
