#include "collector/cli/remedy/backend/remedy_config.h"

#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <set>

#include "collector/cli/http/call_transport.h"
#include "collector/cli/remedy/backend/command_backend.h"
#include "collector/cli/remedy/backend/kubernetes_backend.h"
#include "collector/cli/remedy/backend/placeholders.h"
#include "collector/cli/remedy/backend/requeue_backend.h"
#include "collector/cli/remedy/backend/torchrun_backend.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

using Words = std::vector<std::string>;

// Takes keys out of a file, and knows which it took.
class Keys {
 public:
  explicit Keys(const YAML::Node& root) : root_(root) {}

  std::string Text(const char* key, std::string otherwise) {
    taken_.insert(key);
    const YAML::Node value = root_[key];
    if (!value) return otherwise;
    if (value.IsScalar()) return value.Scalar();
    Complain(Cat(key, " must be a text"));
    return otherwise;
  }
  double Seconds(const char* key, double otherwise) {
    const std::string text = Text(key, "");
    double seconds = 0;
    if (text.empty()) return otherwise;
    if (ReadNumber(text, &seconds) && seconds > 0 && seconds <= 86'400) return seconds;
    Complain(Cat(key, " must be a number of seconds, up to 86400"));
    return otherwise;
  }
  Words List(const char* key, Words otherwise = {}) {
    taken_.insert(key);
    const YAML::Node value = root_[key];
    if (!value) return otherwise;
    Words words;
    for (const YAML::Node& word : value) {
      if (word.IsScalar()) words.push_back(word.Scalar());
    }
    if (!value.IsSequence() || words.size() != value.size() || words.empty())
      Complain(Cat(key, " must be a list of words, the program first"));
    if (auto fits = CheckPlaceholders(words); !fits.ok()) Complain(Cat(key, ": ", Message(fits)));
    return words;
  }
  // One of a few words.
  bool Is(const char* key, const char* usual, const char* other) {
    const std::string word = Text(key, usual);
    if (word != usual && word != other) Complain(Cat(key, " must be ", usual, " or ", other));
    return word == usual;
  }
  void Complain(std::string why) {
    if (wrong_.empty()) wrong_ = std::move(why);
  }
  // The first thing that is wrong.
  absl::Status Wrong() {
    for (const auto& entry : root_) {
      const std::string key = entry.first.Scalar();
      if (!taken_.contains(key)) Complain(Cat("there is no key '", key, "' for this back-end"));
    }
    return wrong_.empty() ? absl::OkStatus() : absl::InvalidArgumentError(wrong_);
  }

 private:
  const YAML::Node root_;
  std::set<std::string> taken_;
  std::string wrong_;
};

std::unique_ptr<RemedyBackend> Torchrun(Keys& keys, const BackendParts& parts) {
  TorchrunOptions options;
  options.on_node = keys.List("on_node");
  options.start = keys.List("start");
  options.fathom = keys.Text("fathom", parts.fathom);
  options.log = keys.Text("log", options.log);
  options.stop_s = keys.Seconds("stop_s", options.stop_s);
  options.ready_s = keys.Seconds("ready_s", options.ready_s);
  return std::make_unique<TorchrunBackend>(std::move(options), parts.run, parts.waiting);
}

std::unique_ptr<RemedyBackend> Slurm(Keys& keys, const BackendParts& parts) {
  RequeueOptions options;
  options.scontrol = keys.List("scontrol", options.scontrol);
  options.slurm_job = keys.Text("slurm_job", "");
  options.command_s = keys.Seconds("command_s", options.command_s);
  options.pending_s = keys.Seconds("pending_s", options.pending_s);
  return std::make_unique<RequeueBackend>(std::move(options), parts.run, parts.waiting);
}

std::unique_ptr<RemedyBackend> Commands(Keys& keys, const BackendParts& parts) {
  CommandOptions options;
  for (const Step step : {Step::kStandby, Step::kIsolate, Step::kRestart})
    options.steps[step] = keys.List(std::string(Word(step)).c_str());
  options.check = keys.List("check");
  options.look = keys.List("look");
  options.undo = keys.List("undo");
  options.timeout_s = keys.Seconds("timeout_s", options.timeout_s);
  return std::make_unique<CommandBackend>(std::move(options), parts.run);
}

// Of the pod that this runs in.
std::string ServerOfPod() {
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host == nullptr) return "";
  const bool six = std::string_view(host).find(':') != std::string_view::npos;
  return Cat("https://", six ? Cat("[", host, "]") : std::string(host), ":",
             port == nullptr ? "443" : port);
}

std::unique_ptr<RemedyBackend> Kubernetes(Keys& keys, const BackendParts& parts) {
  static constexpr const char* kAccount = "/var/run/secrets/kubernetes.io/serviceaccount/";
  KubernetesRemedyOptions options;
  options.server = keys.Text("kubernetes_server", ServerOfPod());
  const bool plain = options.server.starts_with("http://");
  options.token_file =
      keys.Text("kubernetes_token_file", plain ? "" : std::string(kAccount) + "token");
  const std::string ca_file =
      keys.Text("kubernetes_ca_file", plain ? "" : std::string(kAccount) + "ca.crt");
  const auto kind = kubernetes::ReadWorkloadKind(keys.Text("kind", "Job"));
  if (options.server.empty()) keys.Complain("kubernetes_server is needed outside of a pod");
  if (plain && !options.token_file.empty())
    keys.Complain("a token goes to https:// only; kubectl proxy needs none");
  if (!kind.ok()) keys.Complain(Message(kind.status()));
  options.kind = kind.ok() ? *kind : kubernetes::WorkloadKind::kJob;
  options.space = keys.Text("namespace", options.space);
  options.name = keys.Text("name", "");
  options.suspend = keys.Is("restart", "suspend", "pods");
  options.hold = keys.Is("node", "hold", "held");
  options.ended_s = keys.Seconds("ended_s", options.ended_s);
  return std::make_unique<KubernetesRemedy>(
      std::move(options), std::make_unique<CallTransport>(ca_file), parts.waiting);
}

absl::StatusOr<std::unique_ptr<RemedyBackend>> Made(const YAML::Node& root,
                                                    const BackendParts& parts) {
  if (!root.IsMap()) return absl::InvalidArgumentError("it is no map of keys");
  Keys keys(root);
  const std::string name = keys.Text("backend", "");
  std::unique_ptr<RemedyBackend> backend;
  if (name == "torchrun") backend = Torchrun(keys, parts);
  if (name == "slurm") backend = Slurm(keys, parts);
  if (name == "kubernetes") backend = Kubernetes(keys, parts);
  if (name == "command") backend = Commands(keys, parts);
  if (backend == nullptr)
    return absl::InvalidArgumentError("backend must be torchrun, slurm, kubernetes or command");
  if (auto wrong = keys.Wrong(); !wrong.ok()) return wrong;
  return backend;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RemedyBackend>> ReadRemedyConfig(const std::string& file,
                                                                const BackendParts& parts) {
  try {
    auto made = Made(YAML::LoadFile(file), parts);
    if (!made.ok()) return absl::InvalidArgumentError(Cat(file, ": ", Message(made.status())));
    return made;
  } catch (const YAML::BadFile&) {
    return absl::NotFoundError(Cat(file, ": it cannot be read"));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(Cat(file, ": ", error.what()));
  }
}

}  // namespace fathom::cli
