#include "collector/export/job_ledger_proto.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "collector/export/enumerator.h"
#include "collector/export/verdict_proto.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

using diagnosis::AccountSlice;
using diagnosis::Loss;
using State = diagnosis::RunningAccount::State;

// Places of losses, the largest first.
std::vector<std::size_t> Ordered(const std::vector<Loss>& losses) {
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return losses[a].gpu_s > losses[b].gpu_s; });
  return order;
}

void Put(const Loss& loss, v1::JobLedger::Share& out) {
  ToProto(loss.entity, *out.mutable_entity());
  out.set_cause(std::string(ToString(loss.cause)));
  out.set_owner(std::string(ToString(loss.owner)));
  out.set_lost_gpu_s(loss.gpu_s);
  out.set_rest(loss.rest);
  out.set_number(loss.number);
}

Loss Get(const v1::JobLedger::Share& in) {
  Loss loss;
  loss.entity = FromProto(in.entity());
  loss.number = in.number();
  loss.cause = Named(in.cause(), diagnosis::Cause::kRegression);
  loss.owner = Named(in.owner(), diagnosis::Owner::kAlgorithm);
  loss.gpu_s = in.lost_gpu_s();
  loss.rest = in.rest();
  return loss;
}

void Put(const AccountSlice& slice, const std::vector<std::size_t>& order,
         v1::JobLedger::Slice& out) {
  out.set_begin_unix_ns(slice.begin.ns);
  out.set_first_iteration(slice.first.value);
  out.set_iterations(slice.iterations);
  out.set_used_gpu_s(slice.used_gpu_s);
  out.set_unexplained_gpu_s(slice.unexplained_gpu_s);
  for (const std::size_t at : order) {
    out.add_lost_gpu_s(at < slice.lost_gpu_s.size() ? slice.lost_gpu_s[at] : 0);
  }
  while (!out.lost_gpu_s().empty() && *out.lost_gpu_s().rbegin() == 0) {
    out.mutable_lost_gpu_s()->RemoveLast();
  }
}

AccountSlice Get(const v1::JobLedger::Slice& in) {
  AccountSlice slice;
  slice.begin = WallNs(in.begin_unix_ns());
  slice.first = Iteration(in.first_iteration());
  slice.iterations = in.iterations();
  slice.used_gpu_s = in.used_gpu_s();
  slice.unexplained_gpu_s = in.unexplained_gpu_s();
  slice.lost_gpu_s.assign(in.lost_gpu_s().begin(), in.lost_gpu_s().end());
  return slice;
}

// What no account can hold would be counted on from; a value that is no number is no amount either.
bool Amount(double gpu_s) { return gpu_s >= 0; }

bool Sound(const AccountSlice& slice, std::size_t losses) {
  return slice.iterations >= 0 && Amount(slice.used_gpu_s) && Amount(slice.unexplained_gpu_s) &&
         slice.lost_gpu_s.size() <= losses && std::ranges::all_of(slice.lost_gpu_s, Amount);
}

bool Sound(const State& state) {
  const bool losses =
      std::ranges::all_of(state.losses, [](const Loss& loss) { return Amount(loss.gpu_s); });
  const bool causes =
      std::ranges::all_of(state.by_cause, [](const auto& each) { return Amount(each.second); });
  const bool slices = std::ranges::all_of(
      state.slices, [&](const AccountSlice& slice) { return Sound(slice, state.losses.size()); });
  return losses && causes && slices && state.iterations >= 0 && Amount(state.used_gpu_s) &&
         Amount(state.unexplained_gpu_s) && state.slice_iterations > 0;
}

}  // namespace

void ToProto(const State& state, v1::JobLedger& out) {
  const double lost = state.lost_gpu_s();
  out.set_iterations(state.iterations);
  out.set_used_gpu_s(state.used_gpu_s);
  out.set_ideal_gpu_s(state.used_gpu_s - lost);
  out.set_lost_gpu_s(lost);
  out.set_unexplained_gpu_s(state.unexplained_gpu_s);
  const std::vector<std::size_t> order = Ordered(state.losses);
  for (const std::size_t at : order) Put(state.losses[at], *out.add_shares());
  for (const AccountSlice& slice : state.slices) Put(slice, order, *out.add_over_time());
}

std::string ToBytes(const KeptAccount& account) {
  v1::KeptAccount out;
  ToProto(account.state, *out.mutable_ledger());
  out.set_started_unix_ns(account.started.ns);
  out.set_through_unix_ns(account.through.ns);
  out.set_hang(account.hang);
  out.set_hung_s(account.hung_s);
  out.set_slice_iterations(account.state.slice_iterations);
  for (const auto& [of, gpu_s] : account.state.by_cause) {
    v1::KeptAccount::Cause& cause = *out.add_causes();
    cause.set_cause(std::string(ToString(of.first)));
    cause.set_owner(std::string(ToString(of.second)));
    cause.set_lost_gpu_s(gpu_s);
  }
  return out.SerializeAsString();
}

std::optional<KeptAccount> AccountFromBytes(std::string_view bytes) {
  v1::KeptAccount in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  KeptAccount account;
  account.started = WallNs(in.started_unix_ns());
  account.through = WallNs(in.through_unix_ns());
  account.hang = in.hang();
  account.hung_s = in.hung_s();
  State& state = account.state;
  state.iterations = in.ledger().iterations();
  state.used_gpu_s = in.ledger().used_gpu_s();
  state.unexplained_gpu_s = in.ledger().unexplained_gpu_s();
  state.slice_iterations = in.slice_iterations();
  for (const auto& share : in.ledger().shares()) state.losses.push_back(Get(share));
  for (const auto& slice : in.ledger().over_time()) state.slices.push_back(Get(slice));
  for (const auto& each : in.causes()) {
    state.by_cause[{Named(each.cause(), diagnosis::Cause::kRegression),
                    Named(each.owner(), diagnosis::Owner::kAlgorithm)}] = each.lost_gpu_s();
  }
  if (!Sound(state)) return std::nullopt;
  return account;
}

}  // namespace fathom::collector
