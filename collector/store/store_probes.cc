// The part of Store that keeps what probes found of nodes.
#include "collector/store/store.h"
#include "fathom/v1/probe.pb.h"

namespace fathom::collector {

absl::Status Store::SaveProbe(const v1::NodeProbe& run) {
  const std::string bytes = run.SerializeAsString();
  const service::MutexLock lock(mutex_);
  if (!database_) return Note(absl::UnavailableError("no memory"));
  Statement put = database_->Prepare("INSERT INTO probes(node, message) VALUES(?, ?)");
  put.Bind(1, run.node()).BindBlob(2, bytes);
  absl::Status status = Note(put.Run());
  return status.ok() ? Note(TrimProbes(run.node())) : status;
}

absl::Status Store::TrimProbes(const std::string& node) {
  Statement of_node = database_->Prepare(
      "DELETE FROM probes WHERE node = ?1 AND place NOT IN (SELECT place FROM probes WHERE node = "
      "?1 "
      "ORDER BY place DESC LIMIT ?2)");
  if (auto status = of_node.Bind(1, node).Bind(2, kMaxProbesOfNode).Run(); !status.ok()) {
    return status;
  }
  Statement all =
      database_->Prepare("DELETE FROM probes WHERE place <= (SELECT MAX(place) FROM probes) - ?");
  return all.Bind(1, kMaxProbes).Run();
}

std::vector<v1::NodeProbe> Store::Probes(const std::string& node, std::int64_t limit) {
  std::vector<v1::NodeProbe> runs;
  const service::MutexLock lock(mutex_);
  if (!database_) return runs;
  Statement rows = database_->Prepare(
      "SELECT message FROM probes WHERE (?1 = '' OR node = ?1) ORDER BY place DESC LIMIT ?2");
  rows.Bind(1, node).Bind(2, limit);
  while (rows.Step()) {
    v1::NodeProbe run;
    if (run.ParseFromString(rows.Text(0))) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace fathom::collector
