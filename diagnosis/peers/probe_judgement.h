// Whether a node that was measured is slower than its peers, or than it was itself.
//
// Used by collector/probe, for `fathom probe`
// (this node and its earlier runs).
//
// Model: every figure of the suspect is held against the same figure of at least `fewest` peers of
// the same hardware, else of as many of its own earlier runs. What counts is the share of speed
// that is lost: 1 − value/usual of a rate, 1 − usual/value of a time, the difference of a share.
// It is found where it is more than `least_effect`, more than `sigmas` spreads of the references,
// and more than `contrast` times what the worst of the references shows; of many references, up to
// a quarter may be sick themselves and are left out. There is no table of what hardware should do.
//
// A node is clean only as far as its probes could see: `sees` is the smallest loss that would have
// been found in every figure, so a suspicion is refuted by a probe that would have seen it, and by
// no other. Faults (flipped bits, errors of a device) need no peers. A digest that differs from
// that of at least `fewest` nodes which agree, by the same instructions, is a fault.
//
// Units: as told beside each figure; losses are ratios. Thread-safety: pure function.
// Errors: none; a node without references is unknown, and says why.
// Cost: O(figures × references × log references).
// Source: median and MAD (Rousseeuw & Croux 1993), with their factors for small samples (Croux &
// Rousseeuw 1992); the limits are ours, measured by tests/bench/probes.
#ifndef FATHOM_DIAGNOSIS_PEERS_PROBE_JUDGEMENT_H_
#define FATHOM_DIAGNOSIS_PEERS_PROBE_JUDGEMENT_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace fathom::diagnosis {

struct ProbeFigure {
  std::string probe;
  std::string name;
  std::string where;  // "node1", "cpu3"; empty: the node as a whole
  std::string unit;   // "flop/s", "B/s", "1/s", "s", "ratio"; others are told and not judged
  double value = 0;
  bool less_is_better = false;
};

struct ProbeFault {
  std::string probe;
  std::string reason;
};

struct ProbedNode {
  std::string node;
  std::string hardware;  // nodes that may be compared have the same
  std::vector<ProbeFigure> figures;
  std::vector<ProbeFault> faults;
  std::map<std::string, std::string> digests;  // by probe
};

struct ProbeLimits {
  double least_effect = 0.03;
  double sigmas = 5;
  double contrast = 2.5;
  double noise_floor = 0.004;
  std::size_t fewest = 3;
};

struct SlowFigure {
  ProbeFigure figure;
  double usual = 0;
  double loss = 0;  // of its speed, 0 to 1
  std::size_t references = 0;
  bool of_past = false;  // against its own earlier runs
};

struct ProbeJudgement {
  enum class State { kFaulty, kSlow, kClean, kUnknown };
  State state = State::kUnknown;
  std::vector<SlowFigure> slow;  // the largest loss first
  std::vector<ProbeFault> faults;
  double sees = 1;  // the smallest loss that would have been found in every judged figure
  std::size_t judged = 0;
  std::string why_unknown;
};

ProbeJudgement JudgeProbe(const ProbedNode& suspect, const std::vector<ProbedNode>& peers,
                          const std::vector<ProbedNode>& past, const ProbeLimits& limits);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_PEERS_PROBE_JUDGEMENT_H_
