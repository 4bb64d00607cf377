#include <boost/program_options/value_semantic.hpp>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "app/CommandLine.hpp"
#include "app/ResultPath.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/files/File.hpp"
#include "base/files/Listing.hpp"
#include "base/files/Sha256.hpp"
#include "base/process/Processors.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"
#include "findings/Conclusions.hpp"
#include "findings/decisions/SparseDesign.hpp"
#include "findings/runs/RunComparison.hpp"
#include "findings/sharing/KeptPieces.hpp"
#include "findings/sharing/Sharing.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/MpiSession.hpp"
#include "probes/ProbeKind.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "results/Software.hpp"
#include "results/measures/Glossary.hpp"
#include "results/tables/StatisticsTable.hpp"
#include "results/tables/TerminalTable.hpp"
#include "run/DecidedRounds.hpp"
#include "run/Settings.hpp"
#include "run/ranks/Signals.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;
constexpr const char* runs_name = "runs.stats.h5";
constexpr std::size_t most_lines = 80;  // of what is printed without options
enum class Tables { that_fit, all };
/// all: what the job asks, in PROBE.stats.h5. replay: its decisions alone, printed; a file is left only on request.
enum class Purpose { all, replay };
constexpr std::string_view decisions_key = "decide";
/// Of a run that asks in rounds: how many were scored.
std::optional<std::int64_t> rounds_of(const results::ResultFile& file) { return file.number("num_rounds"); }
constexpr const char* incomplete = "NOT complete: this run has unscored blocks.\n";

/// One result, and where its statistics are, or are to be.
struct StatsSource {
  std::unique_ptr<const results::ResultFile> file;
  sweep::Job job;
  std::filesystem::path target;
};

/// Attribute of a statistics file: what its numbers were computed with.
constexpr const char* settings_attribute = "settings_sha256";

/// SHA-256 of the resolved job but for what is asked of the finished score table (contrasts, means, inference).
std::string settings_hash(const sweep::Job& job) {
  auto bare = job;
  bare.comparison = {};
  return base::to_hex(base::sha256(config::canonical_dump(bare)));
}

/// Whether the file at `source.target` is of this result, and was computed as its job says.
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

/// Only what cannot change a raw number may be changed here.
void require_statistics_keys(const std::vector<std::string>& overrides) {
  for (const auto& text : overrides) {
    base::refuse_if(!text.starts_with("statistics.") || text.find('=') == std::string::npos,
                    "'" + text + "' cannot be set here",
                    "stats takes statistics.KEY=VALUE only; all else belongs to the run");
  }
}

/// The job beside the file, else the copy inside it.
sweep::Job job_of(const results::ResultFile& file, const std::vector<std::string>& overrides) {
  const auto beside = file.path().parent_path() / config::resolved_name;
  if (std::filesystem::exists(beside)) {
    return overrides.empty() ? config::load_resolved(base::read_file(beside), beside.string())
                             : config::load_jobs(beside, overrides).front();
  }
  const auto inside = file.document("job_resolved");
  base::refuse_if(!inside, "'" + file.path().string() + "' does not say how to compute statistics",
                  "no " + std::string(config::resolved_name) + " beside it, no job_resolved in it");
  base::refuse_if(!overrides.empty(), "no key can be set for '" + file.path().string() + "'",
                  "no " + std::string(config::resolved_name) + " lies beside it", "name the run directory");
  return config::load_resolved(*inside, file.path().string() + ":/provenance/job_resolved");
}

/// As --output says, else "association.h5" -> "association.stats.h5", in the same directory; of a replay
/// "association.h5.replay", which no command takes for a result.
std::filesystem::path target_of(const CommandLine& line, const std::filesystem::path& file, Purpose purpose) {
  if (!line.has("output")) {
    return purpose == Purpose::all ? results::statistics_beside(file)
                                   : std::filesystem::path(file.string() + ".replay");
  }
  const std::filesystem::path target = line.get<std::string>("output");
  std::error_code ignored;
  base::refuse_if(std::filesystem::equivalent(target, file, ignored),
                  "--output " + target.string() + " is the result that is read", "its raw numbers would be lost",
                  "give another name");
  return target;
}

StatsSource open_source(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  StatsSource source{std::make_unique<const results::ResultFile>(path), {}, results::statistics_beside(path)};
  base::refuse_if(is_stage_file(*source.file), "no statistics of '" + path.string() + "'",
                  "it holds an earlier stage of its run", "name the run directory");
  source.job = job_of(*source.file, overrides);
  probes::require_result_of(*source.file, source.job.probe_name());
  const auto declared = run::field_of({source.file->text("settings").value_or("{}")}, run::decisions_field);
  base::refuse_if(rounds_of(*source.file).has_value() &&
                      (!run::decides(source.job) || run::decision_settings(source.job) != declared),
                  "'" + path.string() + "' has decided something else",
                  "statistics.decide and statistics.contrasts are declared before the first score: other ones would be "
                  "chosen with the scores in sight",
                  "Leave them as the run had them.");
  return source;
}

/// What the job asks for and a run that stops asking cannot tell: its table has cells where rows were open, so that a p
/// or an interval of fixed size would not hold. "" where nothing is left out.
std::string left_out_text(const sweep::Comparison& comparison) {
  std::vector<std::string> names;
  sweep::Comparison::each_statistic(comparison, [&](const sweep::Statistic& statistic, const auto& wanted) {
    if (wanted != std::remove_cvref_t<decltype(wanted)>() && statistic.key != decisions_key) {
      names.emplace_back(statistic.key);
    }
  });
  return names.empty() ? ""
                       : "Not computed, since this run asked no more of a row once it was known, and their p and "
                         "intervals are those of a whole table: " +
                             base::join(names, ", ") + " (of contrasts its decisions are told).\n";
}

/// Of a probe's recommended measures those that the table has: means of them are asked for with --means. None: all.
std::vector<std::string> recommended_in(const findings::Scores& scores, const sweep::Job& job) {
  auto recommended = probes::kind_of(job).recommended_measures(job);
  const auto& known = scores.axes.front()->labels;
  std::erase_if(recommended, [&](const auto& measure) { return !base::contains(known, measure); });
  return recommended;
}

/// Of a job with a sparse design.
std::string design_line(const sweep::Job& job) {
  return results::wrapped("axes.design: " + findings::design_text(probes::kind_of(job).score_axes(job), *job.design()) +
                              "; the others have the status not_applicable.\n",
                          2);
}

/// What a reader of the file needs to know of how it was asked for: which measures come first, and the arguments that
/// make the same file again.
void write_request(hdf5::Group& root, const CommandLine& line, const sweep::Job& job) {
  root.write_attribute(settings_attribute, settings_hash(job));
  root.write_attribute("recommended_measures", base::join(probes::kind_of(job).recommended_measures(job), "\n"));
  if (const auto warnings = probes::kind_of(job).warnings(job); !warnings.empty()) {
    root.write_attribute("warnings", base::join(warnings, "\n"));
  }
  if (job.design()) {
    root.write_attribute("design", design_line(job));
  }
  std::vector<std::string> arguments;
  std::ranges::copy_if(line.overrides, std::back_inserter(arguments),
                       [](const auto& text) { return text.starts_with("statistics."); });
  if (line.has("reparse")) {
    arguments.emplace_back("--reparse");
  }
  root.write_attribute("statistics_arguments", base::join(arguments, "\n"));
}

/// By which measures a result is printed.
results::ShownMeasures shown_measures(const CommandLine& line, const sweep::Job& job) {
  auto recommended = probes::kind_of(job).recommended_measures(job);
  return line.has("all-measures") || recommended.empty() ? results::ShownMeasures()
                                                         : results::ShownMeasures(std::move(recommended));
}

/// Definitions of the measures that are shown and of what the answers say, and what other measures there are.
std::string measures_text(const std::vector<std::string>& all, const results::ShownMeasures& shown,
                          const findings::Told& told) {
  std::vector<std::string> printed;
  std::vector<std::string> others;
  for (const auto& measure : all) {
    (shown.holds(measure) ? printed : others).push_back(measure);
  }
  auto text = results::definitions_text(printed, base::join(told.answers, " "));
  if (!others.empty()) {
    text += results::wrapped("Other measures, printed with --all-measures: " + base::join(others, ", ") + ".\n", 2);
  }
  return text;
}

/// Of the measures that are shown: how many scores are infinite, which no mean counts. "" where none is.
std::string infinite_text(const findings::Scores& scores, const results::ShownMeasures& shown) {
  std::vector<std::string> counts;
  const auto& measures = scores.axes.front()->labels;
  for (std::size_t measure = 0; measure < measures.size(); ++measure) {
    const auto statuses = shown.holds(measures[measure]) ? scores.read_statuses(measure) : std::vector<std::uint8_t>();
    const auto count = std::ranges::count(statuses, static_cast<std::uint8_t>(results::ScoreStatus::infinite));
    if (count > 0) {
      counts.push_back(std::to_string(count) + " of " + measures[measure]);
    }
  }
  return counts.empty() ? "" : "Infinite scores, which no mean counts: " + base::join(counts, ", ") + ".\n";
}

std::size_t lines_of(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

/// What was found, and what keeps a reader from taking it as it stands; the tables; the rest. Unless all are asked for,
/// tables stay out that would make it longer than `most_lines`; their titles are told.
std::string stats_text(const std::string& head, const findings::Told& told, const std::string& tail, Tables printed) {
  auto text = head;
  for (const auto& answer : told.answers) {
    text += answer + "\n";
  }
  for (const auto& warning : told.warnings) {
    text += "WARNING: " + warning + "\n";
  }
  text = results::wrapped(text, 2);
  const auto rest = "\n" + results::wrapped(tail, 2);
  constexpr std::size_t more = 7;  // the names of those that are left out, and where all of it is written
  auto length = lines_of(text) + lines_of(rest) + more;
  const auto tables = base::mapped(told.tables, [](const auto& table) { return results::wrapped(table.text, 2); });
  std::vector<bool> fits(tables.size(), printed == Tables::all);
  std::set<std::string> headings;
  for (const bool is_first_pass : {true, false}) {  // the first table of each heading comes before all others
    for (std::size_t table = 0; table < fits.size(); ++table) {
      const auto lines = lines_of(tables[table]) + 1;
      const bool is_next = !fits[table] && (!is_first_pass || headings.insert(told.tables[table].heading).second);
      fits[table] = fits[table] || (is_next && (table == 0 || length + lines < most_lines));
      length += is_next && fits[table] ? lines : 0;
    }
  }
  std::vector<std::string> left_out;
  for (std::size_t table = 0; table < fits.size(); ++table) {
    if (fits[table]) {
      text += (text.empty() ? "" : "\n") + tables[table];
    } else {
      const auto& shown = told.tables[table].text;
      base::add_once(left_out, std::string(base::trim(shown.substr(0, shown.find_first_of(":\n")))));
    }
  }
  if (!left_out.empty()) {
    text += results::wrapped("\nMore tables, printed with --all: " + results::first_names(left_out, 9) + ".\n", 2);
  }
  return text + rest;
}

/// All that a piece of statistics depends on: the result, the settings with what their files hold, the number of ranks
/// that share it, and the program.
std::string digest_of_work(const StatsSource& source, const CommandLine& line, int num_ranks, Purpose purpose) {
  auto text = std::string(purpose == Purpose::replay ? "replay " : "") + results::software_version() +
              results::stated_digest(*source.file) + config::canonical_dump(source.job) + std::to_string(num_ranks) +
              (line.has("means") ? " means" : "") + (line.has("reparse") ? " reparse" : "");
  for (const auto& [key, value] : findings::keys_of(config::dump_job(source.job, config::Extent::everything))) {
    if (key.starts_with("statistics") && base::is_file(value)) {
      text += base::read_file(value);
    }
  }
  return base::to_hex(base::sha256(text));
}

/// Collective. Writes the statistics file; what rank zero may print of it.
std::string compute(const StatsSource& source, const CommandLine& line, const parallel::Communicator& ranks,
                    Purpose purpose = Purpose::all) {
  findings::KeptPieces kept(ranks, source.target.string() + ".kept",
                            digest_of_work(source, line, ranks.size(), purpose));
  const findings::Workers world{ranks, &kept};
  const auto& kind = probes::kind_of(source.job);
  const auto top = line.number("top", 1);
  std::vector<findings::Finding> conclusions;
  results::StatisticsTarget target = source.target;
  const auto design = source.job.design();
  target.left_out = base::mapped(design ? probes::visits_of(source.job) : std::vector<std::uint8_t>(),
                                 [](std::uint8_t visit) { return visit == sweep::never_visited; });
  auto comparison = kind.asked(source.job);
  const bool is_in_rounds = rounds_of(*source.file).has_value();
  base::refuse_if(line.has("means") && is_in_rounds, "--means of a run that stops asking when it knows",
                  "subjects were asked in different templates, so that their means do not compare");
  const bool adds_means = line.has("means") && !comparison.means;
  const bool asks = comparison.asks() || adds_means;
  /// `own`: the table where this rank has it.
  const auto conclude = [&](const findings::Scores* own) {
    const findings::SharedScores shared(own, world);
    if (adds_means) {
      comparison.means = sweep::MeansRequest{recommended_in(shared.scores(), source.job)};
    }
    conclusions = findings::conclude(shared.scores(), comparison, source.job.seed,
                                     purpose == Purpose::replay || is_in_rounds ? decisions_key : std::string_view());
  };
  std::vector<std::string> measures;
  std::string infinite;
  target.finish = [&](results::StatisticsFile& file) {
    measures = findings::scores_of(file).axes.front()->labels;
    infinite = infinite_text(findings::scores_of(file), shown_measures(line, source.job));
    write_request(file.root(), line, source.job);
    if (asks) {
      auto scores = findings::scores_of(file);
      if (const auto rounds = rounds_of(*source.file)) {
        scores.num_rounds = static_cast<std::size_t>(*rounds);
        file.root().write_attribute("num_rounds", *rounds);
      }
      conclude(&scores);
      const auto recommended = kind.recommended_measures(source.job);
      for (auto& finding : conclusions) {
        if (finding.name == "mean_score" && kind.answers_itself()) {
          finding.answers.clear();
        }
        findings::show_measures(finding, recommended);
        findings::write(file.layout(), finding);
      }
    }
  };
  const probes::StatsRequest request{
      .file = *source.file,
      .job = source.job,
      .target = target,
      .top = top,
      .detail = line.has("all") ? probes::Detail::everything : probes::Detail::main,
      .shown = shown_measures(line, source.job),
      .world = world,
      .parsing = line.has("reparse") ? probes::StatsRequest::Parsing::again : probes::StatsRequest::Parsing::as_stored};
  base::refuse_if(line.has("reparse") && !kind.parses_texts(), "--reparse of a result without texts",
                  "the probe '" + std::string(kind.name()) + "' parses none again");
  if (world.rank() > 0) {
    kind.assist(request);
    if (asks) {
      conclude(nullptr);
    }
    return "";
  }
  const auto found = kind.stats(request);  // which fills `conclusions`
  kept.end();
  auto told = purpose == Purpose::replay || is_in_rounds ? findings::Told() : found.found;
  for (const auto& finding : conclusions) {
    told.add(findings::told_by(finding, top, request.shown));
  }
  if (purpose == Purpose::replay) {
    return stats_text("", told, "", Tables::all);
  }
  if (!is_in_rounds) {
    told.add(found.details);
  }
  const auto job_warnings = kind.warnings(source.job);
  told.warnings.insert(told.warnings.begin(), job_warnings.begin(), job_warnings.end());
  const auto head = (source.file->complete() ? "" : std::string(incomplete)) + (design ? design_line(source.job) : "") +
                    (found.read.empty() ? "" : found.read + "\n") + (is_in_rounds ? left_out_text(comparison) : "");
  const auto tail =
      measures_text(measures, request.shown, told) + infinite + (found.status.empty() ? "" : "\n" + found.status);
  const bool asks_for_all = line.has("all") || line.has("all-measures") || !line.values["top"].defaulted();
  return stats_text(head, told, tail, asks_for_all ? Tables::all : Tables::that_fit) +
         "\nwritten: " + target.path.string() + "\n";
}

/// The table that --format asks for; nothing where it asks for text.
std::optional<results::TableFormat> format_of(const CommandLine& line) {
  const auto& name = line.get<std::string>("format");
  base::refuse_if(name == "text" && line.has("only"), "--only is for tables", "text has its own choice",
                  "add --format csv, markdown or latex");
  return name == "text" ? std::nullopt : std::optional(results::table_format(name));
}

/// What was computed, as a table on standard output that holds nothing else.
void print_table(const CommandLine& line, const std::filesystem::path& file, results::TableFormat format,
                 const std::string& usual = "") {
  const auto& named = line.has("only") ? line.get<std::string>("only") : usual;
  const auto only = named.empty() ? std::vector<std::string>() : base::split(named, ',');
  results::write_statistics_table(file, format, only, std::cout);
}

/// Runs `open` on every rank; a fault of one is a fault of all.
auto opened(const parallel::Communicator& world, const auto& open) {
  return world.size() == 1 ? open() : parallel::coordinated(world, open);
}

// Several results: their score tables joined, compared, written and shown.

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

/// The run that the others are compared with.
std::optional<std::size_t> place_against(const CommandLine& line, const std::vector<std::string>& labels) {
  if (!line.has("against")) {
    return std::nullopt;
  }
  const auto& label = line.get<std::string>("against");
  const auto found = results::place_of(labels, label);
  base::refuse_if(!found, "--against: there is no run '" + label + "'",
                  "the runs are '" + base::join(labels, "', '") + "'", base::did_you_mean(label, labels));
  return found;
}

std::string warnings_of(std::span<const StatsSource> sources, const results::AxisSchema& runs) {
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

/// Rank zero. Writes the comparison; what may be printed of it. The statistics files must be current. Throws InputError
/// for results that cannot be compared.
std::string compare_results(std::span<const StatsSource> sources, const std::filesystem::path& target,
                            const CommandLine& line) {
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
                                                     .against = place_against(line, axis.labels),
                                                     .people = std::move(people)});
  findings::write_runs(target, joined, axis, found);
  return warnings_of(sources, axis) +
         findings::runs_text(joined, found, line.number("top", 1), shown_measures(line, job)) +
         results::wrapped(differing_keys(axis));
}

/// Results to be compared.
struct ComparedRuns {
  std::vector<StatsSource> sources;
  std::vector<bool> is_current;       ///< whose statistics are there
  std::vector<std::string> left_out;  ///< runs of a sweep without a result, and why
  std::filesystem::path target;
};

/// Those of the runs in the places: runs, or folders and names of sweeps.
ComparedRuns open_runs(const CommandLine& line, const std::vector<std::string>& named,
                       const std::vector<std::string>& overrides) {
  ComparedRuns runs;
  std::vector<std::filesystem::path> found;
  for (const auto& run : runs_of(named)) {
    try {
      found.push_back(find_result(run));
    } catch (const base::InputError& error) {
      if (base::contains(named, run.string())) {
        throw;
      }
      runs.left_out.push_back("NOT complete: left out: " + run.string() + ": " + error.what());
    }
  }
  base::refuse_if(found.size() < 2, "'" + named.front() + "' has nothing to compare",
                  "it holds fewer than two results; " + base::join(runs.left_out, "; "));
  runs.target =
      line.has("output") ? std::filesystem::path(line.get<std::string>("output")) : beside_runs(named, runs_name);
  for (const auto& result : found) {
    std::error_code ignored;
    base::refuse_if(std::filesystem::equivalent(runs.target, result, ignored) ||
                        std::filesystem::equivalent(runs.target, results::statistics_beside(result), ignored),
                    "--output " + runs.target.string() + " is a file that is read", "its numbers would be lost",
                    "give another name");
    const auto same = std::ranges::count_if(
        found, [&](const auto& other) { return std::filesystem::equivalent(result, other, ignored); });
    base::refuse_if(same > 1, "one and the same result is named twice", result.string());
  }
  for (const auto& result : found) {
    const auto& source = runs.sources.emplace_back(open_source(result, overrides));
    base::refuse_if(rounds_of(*source.file).has_value(), "'" + result.string() + "' cannot be compared with other runs",
                    "it stopped asking where it knew, so that its subjects were asked in different templates",
                    "Run the job without statistics.decide for that.");
    runs.is_current.push_back(statistics_are_current(source));
  }
  return runs;
}

/// Collective.
void compute_runs(const CommandLine& line, const std::vector<std::string>& named,
                  const std::vector<std::string>& overrides, const parallel::Communicator& world) {
  const auto runs = opened(world, [&] { return open_runs(line, named, overrides); });
  std::vector<std::string> made;
  for (std::size_t run = 0; run < runs.sources.size(); ++run) {
    if (!runs.is_current[run]) {
      compute(runs.sources[run], line, world);
      made.push_back(runs.sources[run].target.string());
    }
  }
  if (world.rank() > 0) {
    return;
  }
  std::string text;
  for (const auto& left_out : runs.left_out) {
    text += results::wrapped(left_out, 2) + '\n';
  }
  auto compared = compare_results(runs.sources, runs.target, line);
  if (const auto format = format_of(line)) {
    std::cerr << text;
    print_table(line, runs.target, *format);
    return;
  }
  for (const auto& path : made) {
    compared += "computed first: " + path + '\n';
  }
  std::cout << text << results::wrapped(compared, 2) << "\nwritten: " << runs.target.string() << '\n';
}

/// Throws InputError where rounds cannot be run over the result.
void require_replayable(const StatsSource& found) {
  base::refuse_if(!probes::kind_of(found.job).comparison(found.job).decide, "nothing says what is to be decided",
                  "statistics.decide is not given",
                  "Add 'statistics.decide={want: [sign]}', and statistics.contrasts where the job has none.");
  base::refuse_if(rounds_of(*found.file).has_value(), "'" + found.file->path().string() + "' cannot be replayed",
                  "its run has decided in rounds itself", "'stereosweep stats' tells what they were.");
  base::refuse_if(!found.file->complete(), "'" + found.file->path().string() + "' cannot be replayed",
                  "the run has unscored blocks, and a verdict of the complete table stands beside each decision",
                  "continue it with 'stereosweep run'");
}

/// Collective. Computes the statistics of one result and prints them.
void tell(const CommandLine& line, const std::vector<std::string>& overrides, const parallel::Communicator& world,
          Purpose purpose) {
  const auto source = opened(world, [&] {
    auto found = open_source(find_result(line.place), overrides);
    if (purpose == Purpose::replay) {
      require_replayable(found);
    }
    found.target = target_of(line, found.file->path(), purpose);
    return found;
  });
  const auto text = compute(source, line, world, purpose);
  if (world.rank() > 0) {
    return;
  }
  if (const auto format = format_of(line)) {
    std::cerr << (source.file->complete() ? "" : incomplete);
    print_table(line, source.target, *format, purpose == Purpose::all ? "" : "decide");
  } else {
    std::cout << text;
  }
  if (purpose == Purpose::replay && !line.has("output")) {
    std::filesystem::remove(source.target);
  }
}

/// Collective. Of several results, or of the one that is named.
void tell_all(const CommandLine& line, const parallel::Communicator& world, Purpose purpose) {
  std::vector<std::string> named = {line.place};
  std::vector<std::string> overrides;
  for (const auto& text : line.overrides) {
    const bool is_place = purpose == Purpose::all && (text.find('=') == std::string::npos || base::is_there(text));
    (is_place ? named : overrides).push_back(text);
  }
  require_statistics_keys(overrides);
  line.number("top", 1);
  format_of(line);  // before anything is computed
  if (purpose == Purpose::all && (named.size() > 1 || !runs_in(named.front()).empty())) {
    compute_runs(line, named, overrides, world);
    return;
  }
  base::refuse_if(line.has("against"), "--against is for several results", "'" + line.place + "' is one");
  tell(line, overrides, world, purpose);
}

base::ExitCode on_all_ranks(const CommandLine& line, Purpose purpose) {
  const parallel::MpiSession session;
  const auto& world = session.world();
  base::set_log_rank(world.size() > 1 ? world.rank() : -1);
  base::keep_freed_memory();  // every slab of a large result takes the place of the one before
  const auto own = [&] {
    tell_all(line, world, purpose);
    return base::ExitCode::done;
  };
  return world.size() == 1 ? own() : parallel::end_on_all_ranks(world, own);
}

base::ExitCode execute_stats(const CommandLine& line) { return on_all_ranks(line, Purpose::all); }
/// What rounds would have decided, and when, of a finished result.
base::ExitCode execute_replay(const CommandLine& line) { return on_all_ranks(line, Purpose::replay); }

void add_replay_options(options::options_description_easy_init add) {
  add("top", options::value<std::int64_t>()->default_value(20), "how many rows of each measure's table");
  add("all-measures", "print every measure, not the recommended one alone; tables by --format always hold all");
  add("output", options::value<std::string>(),
      "a statistics file that is to hold scores, decisions and all rounds; without it no file is left");
  add("format", options::value<std::string>()->default_value("text"),
      "csv, csv-as-is (no apostrophe before a text that begins with = + - @), markdown or latex: every decision and "
      "round, one row a number, instead of the text");
  add("only", options::value<std::string>(), "of such a table what begins so: decide_by_round");
}

void add_stats_options(options::options_description_easy_init add) {
  add("top", options::value<std::int64_t>()->default_value(5),
      "how many rows of each long table; the strongest associations per measure");
  add("all", "every table; of a contexts result also every adjustment, the random-effects model and the p of its z");
  add("all-measures", "print every measure, not the recommended one alone; tables by --format always hold all");
  add("means", "also mean scores with intervals, of the recommended measures, where the job asks for none");
  add("reparse", "read the stored answers of an interview again, by the rules of this program");
  add("output", options::value<std::string>(),
      "where to write instead of PROBE.stats.h5 beside the result; of several results: instead of runs.stats.h5 in "
      "the folder of a sweep, or NAME.runs.stats.h5 beside the runs");
  add("format", options::value<std::string>()->default_value("text"),
      "csv, csv-as-is (no apostrophe before a text that begins with = + - @), markdown or latex: everything that the "
      "statistics file found, one row a number, with n, interval, p, adjusted p and status, instead of the text");
  add("only", options::value<std::string>(),
      "of such a table the statistics whose names begin so: contrast,mean_score");
  add("against", options::value<std::string>(),
      "of several results: label of the run that all others are compared with");
}

}  // namespace

const Command stats_command{
    "stats",
    "scores, averages and agreement with human ratings",
    "stereosweep stats DIR_OR_FILE [statistics.KEY=VALUE ...]: scores, averages, disparities, agreement;\n"
    "writes PROBE.stats.h5 beside the result. Several results, or the folder or the name (results/NAME) of a\n"
    "sweep: one table with the axis run, in runs.stats.h5. Under mpirun, ranks share the tests and draws of what the "
    "job's\n"
    "statistics ask for, and the exact permutation tests of a contexts result",
    execute_stats,
    Places::one_and_overrides,
    "run directory",
    add_stats_options};

const Command replay_command{
    "replay",
    "when a sweep that may stop would have decided its contrasts",
    "stereosweep replay DIR_OR_FILE statistics.decide='{want: [sign]}' [statistics.KEY=VALUE ...]: runs the rounds of\n"
    "a sweep that may stop over a finished result, and tells for each row of the contrasts what would have been\n"
    "decided when, after how many passes, with the interval that holds at every round, and the verdict of the\n"
    "complete table beside. Under mpirun ranks share the rows. Options",
    execute_replay,
    Places::one_and_overrides,
    "run directory",
    add_replay_options};

}  // namespace stereosweep::app
