#include "app/RunsStats.hpp"

#include <algorithm>
#include <list>
#include <tuple>

#include "app/ResultPath.hpp"
#include "base/Error.hpp"
#include "base/files/Listing.hpp"
#include "base/files/Sha256.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"
#include "results/ScoreTable.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::app {
namespace {

findings::RunOrigin origin_of(const StatsSource& source, const results::ScoreFile& scores) {
  const auto text = [](const std::optional<std::string>& value) { return value.value_or(""); };
  return {.name = source.job.name,
          .probe = probe_of(*source.file),
          .digest = text(scores.text("source_digest")),
          .job_sha256 = text(source.file->text("job_sha256")),
          .model_sha256 = text(source.file->text("model_sha256")),
          .complete = source.file->complete() ? "yes" : "NOT complete",
          .keys = findings::keys_of(config::dump_job(source.job, config::Extent::everything))};
}

void require_one_schema(std::span<const StatsSource> sources) {
  const auto version_of = [](const StatsSource& source) {
    return source.file->text("schema_version").value_or("none");
  };
  for (const auto& source : sources) {
    base::refuse_if(version_of(source) != version_of(sources.front()), "the results have different schema versions",
                    "'" + sources.front().file->path().string() + "' has " + version_of(sources.front()) + ", '" +
                        source.file->path().string() + "' has " + version_of(source),
                    "write the older one anew with 'stereosweep export'");
  }
}

std::optional<std::size_t> place_of(const std::optional<std::string>& label, const std::vector<std::string>& labels) {
  const auto found = label ? results::place_of(labels, *label) : std::nullopt;
  base::refuse_if(label && !found, "--against: there is no run '" + label.value_or("") + "'",
                  "the runs are '" + base::join(labels, "', '") + "'", base::did_you_mean(label.value_or(""), labels));
  return found;
}

std::string warnings(std::span<const StatsSource> sources, const results::AxisSchema& runs) {
  std::string text;
  for (std::size_t run = 0; run < sources.size(); ++run) {
    if (!sources[run].file->complete()) {
      text += "NOT complete: '" + runs.labels[run] + "' has unscored blocks.\n";
    }
  }
  const auto inference = [](const StatsSource& source) {
    const auto& comparison = source.job.comparison;
    return std::tuple(comparison.family, comparison.confidence, comparison.replicates, comparison.draws);
  };
  for (const auto& source : sources) {
    if (inference(source) != inference(sources.front())) {
      text += results::wrapped("'statistics.inference' differs between the jobs: that of '" + runs.labels.front() +
                               "' is used.\n");
      break;
    }
  }
  return text.empty() ? "" : text + '\n';
}

/// What differs beside the labels.
std::string differing_keys(const results::AxisSchema& runs) {
  std::vector<std::string> keys;
  for (const auto& coordinate : runs.coordinates) {
    constexpr std::string_view prefix = "key of the job: ";
    if (coordinate.long_name.starts_with(prefix)) {
      keys.push_back(coordinate.long_name.substr(prefix.size()));
    }
  }
  return keys.empty() ? "The jobs do not differ.\n"
                      : "Keys in which the jobs differ: " + base::join(keys, ", ") + ".\n";
}

}  // namespace

std::string settings_hash(const sweep::Job& job) {
  auto bare = job;
  bare.comparison = {};
  return base::to_hex(base::sha256(config::canonical_dump(bare)));
}

bool statistics_are_current(const StatsSource& source) {
  if (!base::is_there(source.target)) {
    return false;
  }
  try {
    const results::ScoreFile scores(source.target);
    return scores.text("source_digest") == results::stated_digest(*source.file) &&
           scores.text(settings_attribute) == settings_hash(source.job);
  } catch (const base::InputError&) {
    return false;  // damaged, or without a score table: it is written anew
  }
}

std::string compare_results(std::span<const StatsSource> sources, const RunsRequest& request) {
  require_one_schema(sources);
  std::list<results::ScoreFile> files;
  std::vector<findings::RunOrigin> origins;
  std::optional<results::PeoplesMeans> people;
  for (const auto& source : sources) {
    files.emplace_back(source.target);
    origins.push_back(origin_of(source, files.back()));
    people = people ? people : files.back().peoples_means();
  }
  const auto axis = findings::run_axis(origins);
  std::vector<findings::RunScores> runs;
  for (const auto& file : files) {
    runs.push_back({axis.labels[runs.size()], origins[runs.size()].probe, findings::scores_of(file)});
  }
  const findings::JoinedRuns joined(std::move(runs));
  const auto& job = sources.front().job;
  const auto found = findings::compare_runs(joined, {.run_axis = axis,
                                                     .comparison = job.comparison,
                                                     .seed = job.seed,
                                                     .against = place_of(request.against, axis.labels),
                                                     .people = std::move(people)});
  findings::write_runs(request.target, joined, axis, found);
  return warnings(sources, axis) + findings::runs_text(joined, found, request.top, request.shown) +
         results::wrapped(differing_keys(axis));
}

}  // namespace stereosweep::app
