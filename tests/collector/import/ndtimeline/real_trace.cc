#include "tests/collector/import/ndtimeline/real_trace.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "collector/import/ndtimeline/ndtimeline_importer.h"
#include "collector/import/ndtimeline/schedule_job.h"
#include "collector/import/short_recording.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/watch/watch.h"

namespace fathom::collector::ndtimeline {
namespace {

std::string Text(const std::string& file) {
  std::ifstream in(DataPath(file));
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string DataPath(const std::string& name) {
  const char* given = std::getenv("FATHOM_DATA_DIR");
  const char* source = std::getenv("FATHOM_SOURCE_DIR");
  const std::filesystem::path data =
      given != nullptr ? std::filesystem::path(given)
                       : std::filesystem::path(source == nullptr ? "." : source) / "../shared/data";
  return (data / "ndtimeline" / name).string();
}

bool HaveRealTrace() { return std::filesystem::exists(DataPath("trace-ST.parquet")); }

diagnosis::ScheduleTrace RealTrace() {
  Recording recording;
  const absl::Status read =
      NdtimelineImporter().Read({DataPath("trace-ST.parquet")}, ImportLimits{}, recording);
  if (!read.ok()) throw std::runtime_error(std::string(read.message()));
  return recording.view.schedule;
}

diagnosis::Diagnosis DiagnosisOf(const diagnosis::ScheduleTrace& trace) {
  Recording recording;
  PutSchedule(trace, recording);
  const diagnosis::JobView& view = recording.view;
  const auto config =
      ConfigForRecording(diagnosis::DiagnosisConfig{}, view.window.size(), view.world_size);
  return Diagnose(view, Watch(view, config), config);
}

std::string Summary(const diagnosis::Diagnosis& diagnosis) {
  std::string text;
  for (const diagnosis::Verdict& verdict : diagnosis.verdicts) {
    if (!text.empty()) text += "; ";
    text += std::string(ToString(verdict.grade)) + ' ' + std::string(ToString(verdict.cause)) +
            ' ' + std::string(ToString(verdict.entity.type));
    for (const RankId rank : verdict.entity.ranks) text += ' ' + std::to_string(rank.value);
  }
  return text;
}

double PublishedNumber(const std::string& file, const std::string& key) {
  const std::string text = Text(file);
  const std::size_t at = text.find('"' + key + "\":");
  if (at == std::string::npos) return std::nan("");
  return std::strtod(text.c_str() + at + key.size() + 3, nullptr);
}

std::map<std::string, double> PublishedNumbers(const std::string& file, const std::string& key) {
  const std::string text = Text(file);
  std::map<std::string, double> out;
  std::size_t at = text.find('"' + key + "\":");
  if (at == std::string::npos) return out;
  at = text.find('{', at);
  const std::size_t end = text.find('}', at);
  while ((at = text.find('"', at)) < end) {
    const std::size_t close = text.find('"', at + 1);
    const std::string name = text.substr(at + 1, close - at - 1);
    out[name] = std::strtod(text.c_str() + text.find(':', close) + 1, nullptr);
    at = text.find(',', close);
  }
  return out;
}

}  // namespace fathom::collector::ndtimeline
