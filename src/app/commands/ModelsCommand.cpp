#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "app/CommandLine.hpp"
#include "base/files/HubCache.hpp"
#include "base/text/Text.hpp"
#include "probes/PlanText.hpp"
#include "results/TextTable.hpp"
#include "run/ModelList.hpp"

namespace stereosweep::app {
namespace {

std::string size_text(std::uint64_t bytes) {
  const auto megabytes = static_cast<double>(bytes) / 1e6;
  return megabytes < 1000 ? probes::format_number("%.3g MB", megabytes)
                          : probes::format_number("%.3g GB", megabytes / 1000);
}

/// "association, contexts"
std::string fitting(const run::ListedModel& model) {
  std::vector<std::string> names;
  for (const auto& fit : model.probes) {
    if (fit.why_not.empty()) {
      names.push_back(fit.probe);
    }
  }
  return base::join(names, ", ");
}

/// "coreference, interview: it asks causal models; ..."
std::string not_fitting(const run::ListedModel& model) {
  std::map<std::string, std::vector<std::string>> probes_of;
  for (const auto& fit : model.probes) {
    if (!fit.why_not.empty()) {
      probes_of[fit.why_not].push_back(fit.probe);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [why, names] : probes_of) {
    parts.push_back(base::join(names, ", ") + " (" + why + ")");
  }
  return base::join(parts, "; ");
}

void print_model(std::ostream& out, const run::ListedModel& model) {
  out << base::printable(model.path) << '\n';
  const auto line = [&](const std::string& name, const std::string& text) {
    if (!text.empty()) {
      out << results::wrapped("  " + name + std::string(10 - name.size(), ' ') + base::printable(text) + "\n", 12);
    }
  };
  line("revision", model.commit + (model.refs.empty() ? "" : " (" + base::join(model.refs, ", ") + ")"));
  line("family", model.family);
  line("head", model.head);
  line("size", model.weight_bytes == 0 ? "" : size_text(model.weight_bytes) + " of weights");
  line("fits", fitting(model));
  line("not", not_fitting(model));
  line("problem", model.problem);
}

base::ExitCode execute_models(const CommandLine& line) {
  auto models = run::list_cached_models();
  for (const auto& place : line.places) {
    const auto found = run::list_models_in(place);
    models.insert(models.end(), found.begin(), found.end());
  }
  if (models.empty()) {
    std::cout << "no models in the Hugging Face cache " << base::hub_cache().string() << "; fetch one, for example:\n  "
              << base::download_command({"google-bert/bert-base-uncased", "main"}) << '\n';
  }
  for (const auto& model : models) {
    print_model(std::cout, model);
  }
  return base::ExitCode::done;
}

}  // namespace

const Command models_command{"models",
                             "models on this machine, which probes they fit",
                             "stereosweep models [DIR ...]: the models in the Hugging Face cache and in directories:\n"
                             "what model.path takes, revision, family, head, size, which probes fit, why not.\n"
                             "No number of a weight is read, and nothing is downloaded",
                             execute_models,
                             Places::any,
                             "directory"};

}  // namespace stereosweep::app
