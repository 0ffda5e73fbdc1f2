// The words of the wire, in the words of the reader.

const CAUSES: Record<string, string> = {
  compute_slow: "slow compute",
  host_slow: "slow host code",
  gc: "Python garbage collection",
  dataloader: "waits for its data loader",
  memory_slow: "slow memory",
  link_slow: "slow link",
  communication_slow: "slow communication",
  communication_hang: "hang in communication",
  noncommunication_hang: "hang outside communication",
  mismatch: "mismatched collectives",
  process_stopped: "process stopped",
  process_dead: "process dead",
  imbalance: "unequal work",
  regression: "regression",
  unknown: "not known",
};

const GRADES: Record<string, { strength: number; meaning: string }> = {
  established: { strength: 3, meaning: "sure enough to act on" },
  supported: { strength: 2, meaning: "likely; not every signal agrees yet" },
  hypothesis: { strength: 1, meaning: "a lead to check, not a finding" },
  unknown: { strength: 0, meaning: "the evidence does not decide" },
};

const OWNERS: Record<string, string> = {
  operations: "operations (hardware)",
  infrastructure: "infrastructure (stack)",
  algorithm: "algorithm (model code)",
};

const STATES: Record<string, string> = {
  running: "running",
  slow: "slow",
  hung: "hung",
  stalled: "no data",
  ended: "ended",
};

// The letters of /proc/PID/stat.
const PROCESS_STATES: Record<string, string> = {
  R: "running",
  S: "sleeping",
  D: "in disk wait",
  T: "stopped",
  t: "traced",
  Z: "zombie",
  X: "dead",
  I: "idle",
};

function plain(word: string): string {
  return word.replaceAll("_", " ");
}

export function causeText(cause: string): string {
  return CAUSES[cause] ?? plain(cause);
}

export function gradeStrength(grade: string): number {
  return GRADES[grade]?.strength ?? 0;
}

export function gradeMeaning(grade: string): string {
  return GRADES[grade]?.meaning ?? "";
}

export function ownerText(owner: string): string {
  return OWNERS[owner] ?? plain(owner);
}

export function stateText(state: string): string {
  return STATES[state] ?? plain(state);
}

export function processStateText(state: string): string {
  return PROCESS_STATES[state] ?? plain(state);
}

export function signalText(name: string): string {
  return plain(name);
}
