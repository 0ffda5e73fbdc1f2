#include "daemon/tracer/core/host/identity.h"

#include <string.h>

#include "daemon/tracer/core/host/text.h"

namespace fathom::tracer {
namespace {

constexpr std::uint32_t kMaxRank = 100'000'000;

// Where one launcher puts its numbers; null where it has no such variable.
struct Launcher {
  abi::IdentitySource source;
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* restart_count;
  const char* run_id;
};
constexpr Launcher kLaunchers[] = {
    {abi::IdentitySource::kTorchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK",
     "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_RUN_ID"},
    {abi::IdentitySource::kSlurm, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
     "SLURM_RESTART_COUNT", "SLURM_JOB_ID"},
    {abi::IdentitySource::kMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", nullptr, "OMPI_MCA_ess_base_jobid"},
    {abi::IdentitySource::kMpi, "PMIX_RANK", "PMIX_SIZE", nullptr, nullptr, "PMIX_NAMESPACE"},
    {abi::IdentitySource::kMpi, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", nullptr, "PMI_JOBID"},
};

void ReadNumber(EnvLookup env, const char* name, std::uint32_t* out) {
  if (name != nullptr) ParseUint(env(name), kMaxRank, out);
}

// torchrun without rendezvous has the id "none": address and port then tell jobs apart.
void NameByAddress(EnvLookup env, Identity* identity) {
  const char* address = env("MASTER_ADDR");
  if (address == nullptr || *address == '\0') return;
  AppendText(identity->job, sizeof(identity->job), "-");
  AppendText(identity->job, sizeof(identity->job), address);
  const char* port = env("MASTER_PORT");
  if (port == nullptr || *port == '\0') return;
  AppendText(identity->job, sizeof(identity->job), "-");
  AppendText(identity->job, sizeof(identity->job), port);
}

void NameJob(EnvLookup env, Identity* identity) {
  constexpr const char* kPrefix[] = {"job", "torchrun", "slurm", "mpi"};
  CopyText(identity->job, sizeof(identity->job), kPrefix[static_cast<int>(identity->source)]);
  const bool has_id = identity->run_id[0] != '\0' && strcmp(identity->run_id, "none") != 0;
  if (has_id) {
    AppendText(identity->job, sizeof(identity->job), "-");
    AppendText(identity->job, sizeof(identity->job), identity->run_id);
  } else {
    NameByAddress(env, identity);
  }
  KeepNameBytes(identity->job);
}

}  // namespace

Identity ReadIdentity(EnvLookup env) {
  Identity identity;
  for (const Launcher& launcher : kLaunchers) {
    if (!ParseUint(env(launcher.rank), kMaxRank, &identity.rank)) continue;
    identity.source = launcher.source;
    ReadNumber(env, launcher.world_size, &identity.world_size);
    ReadNumber(env, launcher.local_rank, &identity.local_rank);
    ReadNumber(env, launcher.restart_count, &identity.restart_count);
    CopyText(identity.run_id, sizeof(identity.run_id), env(launcher.run_id));
    break;
  }
  if (identity.world_size != 0 && identity.rank >= identity.world_size) identity.world_size = 0;
  NameJob(env, &identity);
  return identity;
}

}  // namespace fathom::tracer
