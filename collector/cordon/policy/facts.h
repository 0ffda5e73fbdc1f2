// What fathom-cordon knows of the world at one moment: verdicts, jobs and nodes, as plain values.
//
// Filled by advice/ (from the collector) and backend/ (from Slurm or Kubernetes); read by the
// policy. Nothing here is believed longer than one look.
//
// Tag: a node that fathom holds back carries the id of the action that did it; `owner` is that id,
// whichever instance of fathom-cordon wrote it, and empty when a person or another program holds
// the node or nobody does.
// Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_CORDON_POLICY_FACTS_H_
#define FATHOM_COLLECTOR_CORDON_POLICY_FACTS_H_

#include <map>
#include <string>
#include <vector>

namespace fathom::cordon {

struct VerdictFact {
  std::string id;  // of the episode
  std::string job;
  std::string grade;
  std::string cause;
  std::string entity_type;
  std::string entity;  // "rank 3", "gpu 1 of n4": part of the key of an action
  std::string node;    // empty: it names none
  std::string sentence;
  bool open = true;
  std::string closed_because;
  bool job_runs = true;  // the collector tells of its job now, and it has not ended
  // The collector knows of each agent that told of the job whose it is.
  bool authenticated = true;
  std::string proof =
      {};               // what a probe of the node says: "confirmed", "refuted"; empty: not probed
  double unseen_s = 0;  // since a diagnosis saw it last, by the collector's own clock
};

struct NodeFact {
  std::string name;
  bool withheld = false;  // drained or cordoned, by whoever: gets no new work
  bool healthy = true;    // up and answering, whether withheld or not
  std::string owner;      // the action id of the tag
  std::string note;       // the reason or taint as it stands, for people and for the audit log
  std::string rack;       // or switch; empty: not known
  std::vector<std::string> partitions;

  bool available() const { return healthy && !withheld; }
};

struct View {
  bool verdicts_known = false;  // the collector answered
  bool nodes_known = false;     // the back-end answered
  std::string verdicts_why;     // else why not, in words
  std::string nodes_why;
  std::vector<VerdictFact> verdicts;
  std::map<std::string, NodeFact> nodes;
  std::map<std::string, std::vector<std::string>> job_nodes;  // by job
};

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_POLICY_FACTS_H_
