// Slurm: the job is requeued without the sick node, and Slurm chooses the nodes.
//
// Reads and changes with scontrol, whose rights are those of the user it runs as: a job's owner may
// do all of it. Model: the job is `slurm-ID`, as deploy/slurm/task_prolog names it.
//
//   standby  nothing: Slurm has the spare
//   isolate  scontrol requeuehold ID, wait until it is pending, ExcNodeList + the sick node
//   restart  first: scontrol release ID; second: where it runs or has ended, requeue ID
//
// Each is checked against the job as it is at that moment: one that is held is not requeued again.
// Between the two halves of isolate the job is held and excludes nothing: that is told as done in
// part, so that the hold is not forgotten. Undo takes the node off the list, if it was not on it
// before, and releases the job; the run that was ended is gone. The node itself is left to
// fathom-cordon and to people.
//
// Thread-safety, errors: see remedy_backend.h. Measured with Slurm 22.05.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_REQUEUE_BACKEND_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_REQUEUE_BACKEND_H_

#include <map>
#include <string>
#include <vector>

#include "collector/cli/remedy/backend/waiting.h"
#include "collector/cli/remedy/remedy_backend.h"
#include "collector/process/command.h"

namespace fathom::cli {

struct RequeueOptions {
  std::vector<std::string> scontrol = {"scontrol"};
  std::string slurm_job;  // its id; empty: that of the job's name, slurm-ID
  double command_s = 30;
  double pending_s = 120;  // for the ended run to be cleared away
};

// The fields of `scontrol show job ID -o`, "JobState=RUNNING Restarts=0 …".
using SlurmJob = std::map<std::string, std::string>;
SlurmJob ReadSlurmJob(const std::string& text);
// "n1,n[3-4]" and "n7" to "n1,n[3-4],n7"; "(null)" is empty.
std::string WithNode(const std::string& list, const std::string& node);
// "n1,n3" and "n3" to "n1"; a node that stands in brackets stays.
std::string WithoutNode(const std::string& list, const std::string& node);

class RequeueBackend final : public RemedyBackend {
 public:
  RequeueBackend(RequeueOptions options, collector::CommandRunner run, Waiting waiting)
      : options_(std::move(options)), run_(std::move(run)), waiting_(std::move(waiting)) {}

  std::string Name() const override { return "slurm"; }
  std::string WhoPlaces() const override { return "Slurm"; }
  absl::Status Check(const Remedy& remedy) override;
  absl::StatusOr<Json> Before(const Remedy& remedy, Step step) override;
  absl::StatusOr<std::string> Do(const Remedy& remedy, const Deed& deed) override;
  absl::StatusOr<Extent> HowFar(const Remedy& remedy, const Deed& deed) override;
  absl::StatusOr<std::string> Undo(const Remedy& remedy, const Deed& deed) override;
  std::string ByHand(const Remedy& remedy, const Deed& deed) const override;

 private:
  std::string IdOf(const Remedy& remedy) const;
  absl::StatusOr<SlurmJob> Read(const Remedy& remedy) const;
  // Once the ended run is cleared away; as it is when that takes too long.
  absl::StatusOr<SlurmJob> ReadWhenPending(const Remedy& remedy) const;
  absl::Status Scontrol(std::vector<std::string> words) const;
  absl::Status Isolate(const Remedy& remedy, const Json& before) const;
  absl::StatusOr<std::string> Restart(const Remedy& remedy, int attempt) const;

  const RequeueOptions options_;
  const collector::CommandRunner run_;
  const Waiting waiting_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_REQUEUE_BACKEND_H_
