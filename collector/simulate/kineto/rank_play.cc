#include "collector/simulate/kineto/rank_play.h"

#include <algorithm>

namespace fathom::simulate::kineto {
namespace {

constexpr double kLaunchUs = 4.5;
constexpr double kLaunchOpUs = 5;
constexpr double kBetweenCallsUs = 1;
constexpr double kStartUs = 3;      // from the launch to the begin on an idle stream
constexpr double kNextUs = 1;       // from the end of one piece of work to the begin of the next
constexpr double kAfterSyncUs = 8;  // that the host takes to go on
constexpr double kCopyBytesPerUs = 12'000;

}  // namespace

void Op::Arrive(double begin_us) {
  latest_us = std::max(latest_us, begin_us);
  if (++arrived == size) end_us = latest_us + transfer_us;
}

std::uint64_t RankPlay::Call(const char* name, double us) {
  events_.push_back({.what = Event::What::kRuntime,
                     .name = name,
                     .begin_us = host_,
                     .us = us,
                     .correlation = ++correlations_});
  host_ += us + kBetweenCallsUs;
  return correlations_;
}

double RankPlay::BeginOn(std::uint32_t stream) {
  return std::max(host_ + kStartUs, EndOf(streams_[stream]) + kNextUs);
}

void RankPlay::Run(const Kernel& kernel) {
  const double from = host_;
  const std::uint64_t correlation =
      Call("cudaLaunchKernel", kLaunchUs * Noise() + kernel.launch_us);
  events_.push_back(
      {.what = Event::What::kOperator, .name = kernel.op, .begin_us = from, .us = host_ - from});
  const double begin = BeginOn(kCompute);
  streams_[kCompute] = {begin + kernel.us, nullptr};
  events_.push_back({.what = Event::What::kKernel,
                     .name = kernel.name,
                     .begin_us = begin,
                     .us = kernel.us,
                     .correlation = correlation,
                     .stream = kCompute,
                     .blocks = kernel.blocks});
}

void RankPlay::Copy(double bytes) {
  const std::uint64_t correlation = Call("cudaMemcpyAsync", 6 * Noise());
  const double begin = BeginOn(kCompute);
  const double us = bytes / kCopyBytesPerUs;
  streams_[kCompute] = {begin + us, nullptr};
  events_.push_back({.what = Event::What::kCopy,
                     .name = "Memcpy HtoD (Pinned -> Device)",
                     .begin_us = begin,
                     .us = us,
                     .correlation = correlation,
                     .stream = kCompute,
                     .blocks = static_cast<std::uint32_t>(bytes)});
}

bool RankPlay::Launch(Op& op, std::uint32_t stream, bool behind_compute, CollectiveKind end,
                      std::int64_t peer) {
  if (!Known(streams_[stream]) || !Known(streams_[kCompute])) return false;
  events_.push_back({.what = Event::What::kParams,
                     .begin_us = host_,
                     .us = 8,
                     .op = &op,
                     .peer = peer,
                     .kind = end});
  host_ += 5;
  const std::uint64_t correlation = Call("cudaLaunchKernelExC", kLaunchOpUs * Noise());
  double begin = BeginOn(stream);
  if (behind_compute) begin = std::max(begin, EndOf(streams_[kCompute]) + kNextUs);
  op.Arrive(begin);
  streams_[stream] = {0, &op};
  events_.push_back({.what = Event::What::kOp,
                     .begin_us = begin,
                     .correlation = correlation,
                     .stream = stream,
                     .op = &op,
                     .peer = peer,
                     .kind = end});
  return true;
}

bool RankPlay::WaitFor(const Op& op) {
  if (!op.over()) return false;
  Call("cudaStreamWaitEvent", 1.5 * Noise());
  streams_[kCompute] = {std::max(EndOf(streams_[kCompute]), op.end_us), nullptr};
  return true;
}

bool RankPlay::Synchronise() {
  double end = host_;
  for (const auto& [number, stream] : streams_) {
    if (!Known(stream)) return false;
    end = std::max(end, EndOf(stream));
  }
  Call("cudaDeviceSynchronize", end + 4 - host_);
  host_ += kAfterSyncUs;
  return true;
}

void RankPlay::Busy(const char* name, double us) {
  events_.push_back({.what = Event::What::kHost, .name = name, .begin_us = host_, .us = us});
  host_ += us;
}

void RankPlay::EndStep(std::int64_t number, double begin_us) {
  events_.push_back({.what = Event::What::kStep,
                     .begin_us = begin_us,
                     .us = host_ - begin_us,
                     .correlation = static_cast<std::uint64_t>(number)});
}

}  // namespace fathom::simulate::kineto
