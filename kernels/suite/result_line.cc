#include "kernels/suite/result_line.h"

#include <cmath>
#include <cstdio>

#include "kernels/cpu/gemm.h"

namespace fathom::kernels {
namespace {

std::string Number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", std::isfinite(value) ? value : 0.0);
  return text;
}

std::string JsonOf(const Figure& figure) {
  std::string out = "{\"name\":" + Quoted(figure.name);
  if (!figure.where.empty()) out += ",\"where\":" + Quoted(figure.where);
  out += ",\"value\":" + Number(figure.value);
  if (figure.spread > 0) out += ",\"spread\":" + Number(figure.spread);
  if (figure.slices > 1) out += ",\"slices\":" + std::to_string(figure.slices);
  out += ",\"unit\":" + Quoted(figure.unit);
  if (figure.less_is_better) out += ",\"less_is_better\":true";
  return out + "}";
}

}  // namespace

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  return out + '"';
}

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return "done";
    case Outcome::kFaulty:
      return "faulty";
    case Outcome::kSkipped:
      return "skipped";
    case Outcome::kStopped:
      return "stopped";
    case Outcome::kKilled:
      break;
  }
  return "killed";
}

std::string LineOf(const ProbeResult& result) {
  std::string out = "{\"result\":{\"probe\":" + Quoted(result.probe) +
                    ",\"outcome\":" + Quoted(OutcomeName(result.outcome));
  if (!result.reason.empty()) out += ",\"reason\":" + Quoted(result.reason);
  if (!result.digest.empty()) out += ",\"digest\":" + Quoted(result.digest);
  out += ",\"seconds\":" + Number(result.seconds) + ",\"figures\":[";
  for (std::size_t i = 0; i < result.figures.size(); ++i) {
    out += (i == 0 ? "" : ",") + JsonOf(result.figures[i]);
  }
  return out + "]}}\n";
}

std::string LineOf(const Machine& machine) {
  return "{\"machine\":{\"cpu_model\":" + Quoted(machine.cpu_model) +
         ",\"instructions\":" + Quoted(VariantName()) +
         ",\"cores\":" + std::to_string(machine.cores) +
         ",\"cores_allowed\":" + std::to_string(machine.cpus.size()) +
         ",\"numa_nodes\":" + std::to_string(machine.numa.size()) +
         ",\"memory_bytes\":" + std::to_string(machine.memory_bytes) + "}}\n";
}

std::string ListeningLine(std::uint16_t port) {
  return "{\"listening\":{\"port\":" + std::to_string(port) + "}}\n";
}

}  // namespace fathom::kernels
