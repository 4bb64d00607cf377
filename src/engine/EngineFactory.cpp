#include "engine/EngineFactory.hpp"

#include <fstream>
#include <string>

#include "base/Error.hpp"
#include "engine/FakeEngine.hpp"

namespace stereosweep::engine {
namespace {

std::string processor_name() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("model name")) {
      return line.substr(std::min(line.size(), line.find(':') + 2));
    }
  }
  return "unknown processor";
}

}  // namespace

std::unique_ptr<query::Engine> make_engine(const EngineSettings& settings, const base::FileSet& files,
                                           const tokenizer::Tokenizer& tokenizer) {
  if (settings.threads < 1 || settings.batch_tokens < 1) {
    throw base::InputError(base::describe("threads and batch_tokens must be at least 1", "nothing can run with less"));
  }
  if (settings.kind == domain::EngineKind::fake) {
    return std::make_unique<FakeEngine>(tokenizer.size(), settings.seed);
  }
  throw base::InputError(files.directory() + ": " +
                         base::describe("no model engine in this build yet", "only the fake engine is linked"));
}

std::string device_description(const EngineSettings& settings) {
  return settings.kind == domain::EngineKind::fake ? "fake" : processor_name();
}

}  // namespace stereosweep::engine
