// The life of one job's verdicts: a diagnosis says what it sees now, this says what stands.
//
// Owned by VerdictLedger, one a job.
//
//   seen twice in a row, the second time in data that the first had not (of a hang: any)
//                                  → opened (stable id; its onset is kept, but for what follows)
//   seen without a cause, on a culprit of whom an open one knows it
//                                  → seen, and no other opens
//   its episode is dated later     → dated so with the next update: what was before were spikes
//   found among its peers as always so or as coming and going, and now against a past that holds it
//                                  → its words, onset and period stay, its grade and cost go on
//   grade, cost, GPU or sentence change
//                                  → updated, at most every kUpdateGap; a grade rises at once and
//                                    falls after kFallAfter diagnoses of new data in a row
//   not seen in kCloseAfter diagnoses of new data (of a hang: of any) and kCloseGap, while
//   another verdict is, which convicts if this one does
//                                  → closed "superseded by ID"; the other one was opened
//   not seen for kDoubtGap, nor any other
//                                  → closed "no longer supported"; but a hang whose culprit is
//                                  out of sight while the job stands still stays as it was last
//                                  known, and says so: nothing speaks against it; likewise a
//                                  slow job's that an earlier collector opened, while the job is
//                                  slow by the baseline of then
//   the job is regular (or, for a hang, moves again; or, for slowness, stands; or, for a rise
//   within an episode, is as slow as before the rise), for kCloseGap or kRegularGap, and of what
//   comes in every so many iterations until it was due four times and did not come
//                                  → closed "recovered"
//   a capture of stacks was made   → updated at once; what it shows is told as long as it stands
//   its node was probed            → updated at once; refuted, it is worth a grade less
//   a comparison with earlier runs said so (Stand) → opened at once; it stands until another such
//                                    comparison says no (Withdraw), whatever diagnoses see
//   job over, job restarted        → closed, saying so
//
// So an established verdict never turns into another one under the reader's eyes.
// Thread-safety: thread-compatible. Cost: O(verdicts). Memory: kMaxEpisodes closed ones are kept.
#ifndef FATHOM_COLLECTOR_VERDICT_JOB_VERDICTS_H_
#define FATHOM_COLLECTOR_VERDICT_JOB_VERDICTS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/verdict/episode.h"
#include "diagnosis/watch/watch.h"

namespace fathom::collector {

// Where the job stands at the moment of a diagnosis.
struct JobMoment {
  std::string job;
  WallNs started;  // of the job's first process: part of every id
  Iteration iteration;
  WallNs wall;
  MonoNs mono;
  // The diagnosis (or the look ahead) is of the same data as the one before: of a slow job it
  // confirms nothing and contradicts nothing.
  bool repeated = false;
  // Nodes by those ranks whose agents are out of reach: nothing is known of them now.
  std::map<RankId, std::string> out_of_sight = {};
  // What is usual was learnt before this collector started: regular means what it meant then.
  bool recalled = false;
  bool authenticated = false;  // of all agents of the job it is known whose they are
};

using Changes = std::vector<std::pair<VerdictChange, Episode>>;

class JobVerdicts {
 public:
  static constexpr int kOpenAfter = 2;  // diagnoses in a row
  static constexpr int kFallAfter = 6;
  static constexpr int kCloseAfter = 4;
  static constexpr Nanos kCloseGap{2'000'000'000};   // another verdict explains the trouble
  static constexpr Nanos kDoubtGap{10'000'000'000};  // none does, and the trouble goes on
  static constexpr Nanos kRegularGap{5'000'000'000};
  static constexpr Nanos kUpdateGap{2'000'000'000};
  static constexpr std::size_t kMaxEpisodes = 200;

  // `diagnosis` null: Watch() found nothing to ask about.
  Changes Update(const JobMoment& now, const diagnosis::Suspicion& suspicion,
                 const diagnosis::Diagnosis* diagnosis);
  // A first sight of verdicts, by a look ahead (diagnosis/engine/look_ahead.h): opens nothing,
  // speaks against nothing.
  void Foresee(const diagnosis::Diagnosis& ahead);
  // The job is over: what the last diagnosis convicts somebody of is opened at once (a job that
  // dies within one look leaves no time for a second one), then all verdicts are closed.
  Changes Conclude(const JobMoment& now, const diagnosis::Diagnosis& last);
  Changes CloseAll(const JobMoment& now, const std::string& because);
  // A capture of stacks was made for this verdict; nothing where a function is known already.
  Changes Explain(const std::string& id, const diagnosis::Detail& detail, WallNs wall, MonoNs mono);
  // Nodes were probed: of each verdict, closed ones too, `prover` says what follows.
  using Prover = std::function<ProbeProof(const Episode&)>;
  Changes Prove(const Prover& prover, WallNs wall, MonoNs mono);
  // What the history of runs says of the job as a whole.
  Changes Stand(const JobMoment& now, const diagnosis::Verdict& verdict);
  Changes Withdraw(const JobMoment& now, const std::string& because);
  // A verdict that the store still held open when the collector started. False: there is one of the
  // same cause and culprit already.
  bool Adopt(Episode episode);

  std::vector<Episode> Episodes() const;  // open ones first, each half strongest and newest first
  bool HasOpen() const;
  // A verdict was seen once and opens when it is seen again, in other data unless it is a hang.
  bool Waits() const { return !candidates_.empty(); }

 private:
  struct Live {
    Episode episode;
    int missed = 0;        // diagnoses in a row that did not see it
    MonoNs last_seen;      // or first update after the collector started
    int lower_grades = 0;  // diagnoses in a row with a lower grade
    MonoNs last_told;
    bool adopted = false;
    bool says_unseen = false;  // why it stands though it is not seen
    bool of_rise = false;      // of a rise within the episode, when it was seen last
    bool of_history = false;   // it stands by itself: see Stand
  };
  struct Candidate {
    diagnosis::Verdict verdict;
    int seen = 0;
    bool seen_now = false;
  };

  void See(const diagnosis::Verdict& verdict, const diagnosis::Suspicion& suspicion,
           const JobMoment& now, Changes& changes);
  // The open verdict on the same culprit, where `verdict` does not know the cause: an agent that
  // has just begun cannot tell it, and the trouble is one. Null: none.
  Live* KnownCause(const diagnosis::Verdict& verdict);
  // `episode`: since when the job is slow, as it is known now.
  void Refresh(Live& live, diagnosis::Verdict verdict, Iteration episode, const JobMoment& now,
               Changes& changes);
  void Open(const std::string& key, const diagnosis::Verdict& verdict, const JobMoment& now,
            Changes& changes);
  void CloseUnseen(const JobMoment& now, const diagnosis::Suspicion& suspicion, Changes& changes);
  // Why a verdict that is not seen is not refuted by that: the culprit of a hang is out of sight,
  // or a slow job is as slow as before the collector was restarted.
  static std::optional<diagnosis::Evidence> WhyUnseen(const Live& live, const JobMoment& now);
  bool KeepUnseen(Live& live, const JobMoment& now, Changes& changes);
  static bool Unfounded(const Live& live, const JobMoment& now,
                        const diagnosis::Suspicion& suspicion);
  void CloseRegular(const JobMoment& now, const diagnosis::Suspicion& suspicion, Changes& changes);
  void Close(const std::string& key, const JobMoment& now, const std::string& because,
             Changes& changes);
  // The open verdict that explains the same trouble now, or nothing.
  const Live* Successor(const std::string& key) const;

  std::map<std::string, Live> open_;  // by entity and cause
  std::map<std::string, Candidate> candidates_;
  std::vector<Episode> closed_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_VERDICT_JOB_VERDICTS_H_
