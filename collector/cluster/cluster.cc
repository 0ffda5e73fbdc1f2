#include "collector/cluster/cluster.h"

#include <absl/strings/str_cat.h>

#include <chrono>
#include <string_view>

#include "collector/cluster/bus_message.h"

namespace fathom::collector {
namespace {

constexpr std::chrono::seconds kSayEvery{1};
constexpr Nanos kNamePatience{500'000'000};

IngestContext WithoutOps(IngestContext context) {
  context.ops = nullptr;
  return context;
}

}  // namespace

Cluster::Cluster(ClusterSettings settings, ClusterWires wires, Parts parts)
    : settings_(std::move(settings)),
      wires_(std::move(wires)),
      parts_(std::move(parts)),
      far_ingest_(WithoutOps(parts_.ingest)),
      doors_(parts_.clock),
      door_{parts_.ingest,
            *wires_.bus,
            doors_,
            parts_.clock,
            settings_.name,
            settings_.max_agent_jobs,
            [this](const std::string& job) { ownership_->Heard(job); }},
      far_(far_ingest_, *wires_.bus, counters_),
      members_(*wires_.bus, parts_.clock, counters_, settings_.name) {}

absl::StatusOr<std::unique_ptr<Cluster>> Cluster::Start(ClusterSettings settings,
                                                        ClusterWires wires, Parts parts) {
  std::unique_ptr<Cluster> cluster(
      new Cluster(std::move(settings), std::move(wires), std::move(parts)));
  if (auto status = cluster->Begin(); !status.ok()) return status;
  return cluster;
}

absl::Status Cluster::Begin() {
  const auto taken = wires_.bus->Ask(settings_.name, BusBytes(v1::BusRequest()), kNamePatience);
  if (taken.ok()) {
    return absl::AlreadyExistsError(absl::StrCat("cluster_name: another collector answers to '",
                                                 settings_.name, "'; give each its own"));
  }
  api_ = std::make_unique<PeerApi>(PeerApi::Parts{
      parts_.near, *wires_.bus, members_, counters_, settings_.name,
      [this](const std::string& job) { return wires_.leases->HolderOf(job); }, parts_.kept_ops});
  for (const absl::Status& status :
       {api_->Start(), members_.Start(), HearOrders(), HearEvents(), HearProbes()}) {
    if (!status.ok()) return status;
  }
  checkpoints_ = std::make_unique<CheckpointKeeper>(CheckpointKeeper::Parts{
      *wires_.checkpoints, parts_.checkpoints, counters_, parts_.clock, settings_.name,
      [this](const std::string& job) { return ownership_->PlaceOf(job); }});
  ownership_ = std::make_unique<Ownership>(OwnershipParts());
  checkpoints_->Start();
  OpenDoor();
  Say(false);
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

Ownership::Parts Cluster::OwnershipParts() {
  return {*wires_.leases,
          {*wires_.bus, far_, parts_.ingest.jobs, counters_},
          counters_,
          parts_.clock,
          [this](const std::string& job, Leases::Token token) { return Taken(job, token); },
          parts_.caught_up,
          parts_.lost,
          [this](const std::string& job) { checkpoints_->Forget(job); },
          [this](std::size_t jobs) { return members_.Before(jobs); },
          parts_.log};
}

absl::Status Cluster::Taken(const std::string& job, Leases::Token token) {
  const auto checkpoint = checkpoints_->Read(job, token);
  if (!checkpoint.ok()) return checkpoint.status();
  const v1::BusCheckpoint* const read = *checkpoint ? &**checkpoint : nullptr;
  if (read != nullptr) {
    parts_.log(false, absl::StrCat("job ", job, ": ", read->owner(), " knew its log up to record ",
                                   read->position(), " when it wrote its checkpoint"));
  }
  return parts_.taken(job, token, read);
}

void Cluster::OpenDoor() {
  parts_.ingest.durable = wires_.bus.get();
  parts_.ingest.make_session = [this](std::uint64_t id, std::weak_ptr<RowsChannel> channel,
                                      const Witness& witness) {
    return std::make_unique<DoorSession>(id, door_, std::move(channel), witness);
  };
}

absl::Status Cluster::Hear(const std::string& topic, Bus::OnWord on_word) {
  auto hearing = wires_.bus->Hear(topic, std::move(on_word));
  if (hearing.ok()) hearings_.push_back(*std::move(hearing));
  return hearing.status();
}

absl::Status Cluster::HearOrders() {
  return Hear(OrdersTo(settings_.name), [this](std::string_view bytes) {
    if (const auto order = ReadBus<v1::BusOrder>(bytes, counters_)) doors_.Pass(*order);
  });
}

absl::Status Cluster::HearEvents() {
  parts_.events.Relay(
      [this](std::string_view type, std::string_view job, std::string_view json) {
        v1::BusEvent event;
        event.set_type(std::string(type));
        event.set_job(std::string(job));
        event.set_json(std::string(json));
        event.set_from(settings_.name);
        wires_.bus->Tell(kEventsTopic, BusBytes(std::move(event)));
      },
      [this] { return members_.AnybodyListens(); });
  return Hear(kEventsTopic, [this](std::string_view bytes) {
    const auto event = ReadBus<v1::BusEvent>(bytes, counters_);
    if (!event || event->from() == settings_.name) return;
    parts_.events.PublishHere(event->type(), event->job(), event->json());
  });
}

// Whoever ordered the probe knows its number; to all others it is nothing.
absl::Status Cluster::HearProbes() {
  return Hear(kProbesTopic, [this](std::string_view bytes) {
    const auto record = ReadBus<v1::BusRecord>(bytes, counters_);
    if (!record || parts_.ingest.probes == nullptr) return;
    const Rejection unasked =
        parts_.ingest.probes->OnAnswer(record->hello().node(), record->message().probe());
    (void)unasked;
  });
}

void Cluster::Say(bool leaves) {
  v1::BusMember member;
  member.set_jobs(static_cast<std::uint32_t>(ownership_->figures().jobs));
  member.set_listened(parts_.events.subscribers() > 0);
  member.set_leaves(leaves);
  members_.Say(std::move(member));
}

void Cluster::Run() {
  service::MutexLock lock(mutex_);
  while (!wake_.WaitFor(mutex_, kSayEvery,
                        [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; })) {
    lock.Unlock();
    Say(false);
    lock.Lock();
  }
}

void Cluster::Ended(const std::string& job) { ownership_->Ended(job); }

void Cluster::Drain() {
  ownership_->Close();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (wires_.bus->counters().waiting > 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void Cluster::HandOver() {
  Say(true);
  checkpoints_->Stop();
  ownership_->HandOver();
}

Cluster::~Cluster() {
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  hearings_.clear();
  if (checkpoints_) checkpoints_->End();
  ownership_.reset();
  parts_.ingest.make_session = nullptr;
  parts_.ingest.durable = nullptr;
}

std::string Cluster::failing() const {
  const std::string of_bus = wires_.bus->failing();
  if (!of_bus.empty()) return absl::StrCat("bus: ", of_bus);
  const std::string of_leases = ownership_->figures().failing;
  return of_leases.empty() ? "" : absl::StrCat("leases: ", of_leases);
}

Cluster::Figures Cluster::figures() const {
  return {wires_.bus->counters(), ownership_->figures(), checkpoints_->bytes(),
          members_.Others().size() + 1};
}

}  // namespace fathom::collector
