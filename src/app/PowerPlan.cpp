#include "app/PowerPlan.hpp"

#include <algorithm>
#include <iostream>

#include "app/ResultPath.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "probes/ProbeKind.hpp"
#include "results/ScoreFile.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::app {
namespace {

const std::vector<std::string> word_names = {"effect", "difference", "pilot", "chance", "level"};

/// What was given, by name.
class Words {
 public:
  void add(const std::string& word) {
    const auto name = word.substr(0, word.find('='));
    if (name == word || !base::contains(word_names, name)) {
      faults_.push_back(base::describe("--power: '" + word + "' is nothing that can be given",
                                       "NAME=VALUE is expected, with the names " + base::join(word_names, ", "),
                                       base::did_you_mean(name, word_names)));
    } else if (find(name) != nullptr) {
      faults_.push_back("--power: '" + name + "' is given twice");
    } else {
      given_.emplace_back(name, word.substr(name.size() + 1));
    }
  }
  const std::string* find(const std::string& name) const {
    const auto found = std::ranges::find(given_, name, &std::pair<std::string, std::string>::first);
    return found == given_.end() ? nullptr : &found->second;
  }
  /// Leaves `value` where nothing was given.
  void read(const std::string& name, double least, double most, double& value) {
    const auto* text = find(name);
    if (text == nullptr) {
      return;
    }
    const auto number = base::parse_double(*text);
    if (number && *number >= least && *number <= most) {
      value = *number;
    } else {
      faults_.push_back(base::describe(
          "--power: " + name + "=" + base::printable(*text) + " cannot be used",
          "a number from " + base::format_double(least) + " to " + base::format_double(most) + " is expected"));
    }
  }
  void add_fault(const std::string& problem, const std::string& why, const std::string& suggestion) {
    faults_.push_back(base::describe("--power: " + problem, why, suggestion));
  }
  void require_none() const {
    if (!faults_.empty()) {
      throw base::InputError(base::join(faults_, "\n"));
    }
  }

 private:
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::string> faults_;
};

/// The statistics file beside the pilot's result. It must be of that result, and the result of the job's probe.
results::ScoreFile open_pilot(const std::filesystem::path& pilot, const sweep::Job& job) {
  const results::ResultFile result(find_result(pilot));
  base::refuse_if(probe_of(result) != job.probe_name(), "the pilot '" + pilot.string() + "' is of another probe",
                  "it is of '" + probe_of(result) + "', the job of '" + job.probe_name() + "'");
  const auto path = statistics_beside(result.path());
  const auto suggestion = "run 'stereosweep stats " + pilot.string() + "' first";
  base::refuse_if(!std::filesystem::exists(path), "the pilot '" + pilot.string() + "' has no score table yet",
                  "there is no " + path.string(), suggestion);
  results::ScoreFile scores(path);
  base::refuse_if(scores.text("source_digest") != results::stated_digest(result),
                  "the pilot's score table is of another result", path.string() + " is older than the run", suggestion);
  return scores;
}

}  // namespace

PowerRequest take_power_request(const std::string& word, std::vector<std::string>& overrides) {
  Words words;
  words.add(word);
  std::vector<std::string> rest;
  for (const auto& text : overrides) {
    const auto name = text.substr(0, text.find('='));
    const bool is_ours = name != text && base::contains(word_names, name);
    if (is_ours) {
      words.add(text);
    } else {
      rest.push_back(text);
    }
  }
  overrides = std::move(rest);
  PowerRequest request;
  auto& goal = request.goal;
  words.read("effect", 0.001, 1000, goal.size);
  words.read("difference", 1e-12, 1e12, goal.size);
  words.read("level", 1e-9, 0.5, goal.level);
  words.read("chance", 0.01, 0.999, goal.chance);
  const bool has_effect = words.find("effect") != nullptr;
  const bool has_difference = words.find("difference") != nullptr;
  goal.unit = has_difference ? findings::PowerGoal::Unit::score : findings::PowerGoal::Unit::deviations;
  if (has_effect == has_difference) {
    words.add_fault(has_effect ? "both an effect and a difference are given" : "no effect is given",
                    "the chance depends on one true difference",
                    "Give effect=0.5 (in standard deviations of templates' differences) or difference=0.1 (in the "
                    "score's unit, with pilot=RUN_DIRECTORY).");
  }
  if (const auto* pilot = words.find("pilot")) {
    request.pilot = *pilot;
  } else if (has_difference) {
    words.add_fault("a difference in the score's unit needs a pilot", "without one its variance is not known",
                    "Give pilot=RUN_DIRECTORY, or effect=0.5 in standard deviations.");
  }
  words.require_none();
  return request;
}

void print_power(std::span<const sweep::Job> jobs, const PowerRequest& request, std::size_t top) {
  if (!request.pilot) {
    std::cout << findings::power_text(request.goal);
    return;
  }
  std::optional<sweep::Comparison> last;
  for (const auto& job : jobs) {
    const auto& kind = probes::kind_of(job);
    const auto comparison = kind.comparison(job);
    if (last == comparison) {
      continue;  // of a sweep: the same again
    }
    base::refuse_if(comparison.contrasts.empty(), "'" + job.name + "' asks for no contrast",
                    "power is that of a contrast's p",
                    "Add statistics.contrasts to the job, or 'statistics.contrasts=[{name: ..., left: {...}}]' here.");
    const auto file = open_pilot(*request.pilot, job);
    const auto contrasts = findings::plan_contrasts(findings::scores_of(file), comparison);
    std::cout << (last ? "\n" : "") << findings::power_text(contrasts, request.goal, top)
              << results::wrapped("the job: " + kind.summary(job) + '\n', 2);
    last = comparison;
  }
}

}  // namespace stereosweep::app
