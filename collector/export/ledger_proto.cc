#include "collector/export/ledger_proto.h"

#include <string>

#include "collector/export/verdict_proto.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

void Put(const diagnosis::AccountShare& share, v1::Ledger::Share& out) {
  ToProto(share.entity, *out.mutable_entity());
  out.set_cause(std::string(ToString(share.cause)));
  out.set_owner(std::string(ToString(share.owner)));
  out.set_lost_gpu_s(share.lost_gpu_s);
  out.set_gain_s_per_iteration(share.gain_s_per_iteration);
  out.set_alone_s_per_iteration(share.alone_s_per_iteration);
  out.set_hidden(share.hidden);
  v1::Since& since = *out.mutable_since();
  if (!share.from_start) since.set_iteration(share.since.value);
  out.set_every(static_cast<std::int32_t>(share.every));
  out.set_until(share.until.value);
}

}  // namespace

void ToProto(const diagnosis::Account& account, v1::Ledger& out) {
  out.set_used_gpu_s(account.used_gpu_s);
  out.set_ideal_gpu_s(account.ideal_gpu_s);
  out.set_lost_gpu_s(account.lost_gpu_s);
  out.set_unexplained_gpu_s(account.unexplained_gpu_s);
  out.add_reference("peers");
  out.set_iterations(account.iterations);
  out.set_measured_s(account.measured_s);
  out.set_replayed_s(account.replayed_s);
  for (const diagnosis::AccountShare& share : account.shares) Put(share, *out.add_shares());
}

}  // namespace fathom::collector
