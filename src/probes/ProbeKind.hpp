// The interface of a kind of probe: all that the rest of the program knows of it. README.md has a worked example.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/files/File.hpp"
#include "config/ProbeFormat.hpp"
#include "findings/Finding.hpp"
#include "model/causal/CausalSize.hpp"
#include "parallel/Communicator.hpp"
#include "probes/Probe.hpp"
#include "probes/Stage.hpp"
#include "query/Engine.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "results/measures/Glossary.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::probes {

/// What `plan` is asked; borrowed.
struct PlanRequest {
  const sweep::Job& job;
  const base::FileSet& files;             ///< the checkpoint's small files
  const tokenizer::Tokenizer* tokenizer;  ///< null where the job reads no model
  std::optional<model::Load> load;        ///< of a causal model
  int ranks = 1;
  enum class Prompts { left_out, printed } prompts = Prompts::left_out;
  std::optional<std::uint64_t> limit;  ///< lines per list, cells of the prompts
  /// Prints what scoring all blocks will take.
  std::function<void(std::ostream&, const Probe&)> print_time;
};

/// How much a command prints.
enum class Detail { status_only, main, everything };

/// What `stats` is asked; borrowed.
struct StatsRequest {
  const results::ResultFile& file;
  const sweep::Job& job;
  results::StatisticsTarget target;
  std::size_t top = 0;  ///< rows of a long table
  Detail detail = Detail::main;
  results::ShownMeasures shown = {};  ///< by what labels, in every table that is printed
  const findings::Workers& world;     ///< one rank, unless a launcher started more
  /// Of a probe that parses sampled texts: its numbers as the run parsed them, or parsed again by this program's rules.
  enum class Parsing { as_stored, again } parsing = Parsing::as_stored;
};

/// What `stats` prints of a result.
struct StatsText {
  findings::Told found = {};    ///< before what the job asks of the score table
  findings::Told details = {};  ///< behind it
  std::string status = {};      ///< what became of cells and answers
  std::string read = {};        ///< of sampled answers: write_read_line; above all of it
};

/// Writes what was found into the statistics file, and gives its text.
findings::Told write_findings(results::StatisticsFile& file, const std::vector<findings::Finding>& found,
                              const StatsRequest& request);

/// A table: how many cells have which status. `counts`: by `names`.
std::string cells_text(const std::vector<std::string>& names, const std::vector<std::uint64_t>& counts);

/// Counts of answers by status, each with its share of what was asked: all but `not_asked` and `not_scored`.
std::string answers_line(const std::string& what, const std::vector<std::string>& names,
                         const std::vector<std::uint64_t>& counts);
/// How many of the asked ratings have the first status, that of a rating which was read, and how thoughts before them
/// ended where some may be closed: "" where none is asked. Also the file's attribute `answers_read`, which the report
/// shows.
std::string write_read_line(results::StatisticsFile& file, const results::ResultFile& result,
                            const std::vector<std::string>& names, const std::vector<std::uint64_t>& counts);

/// What `show --answers` is asked; borrowed.
struct AnswersRequest {
  const results::ResultFile& file;
  std::vector<std::string> groups;  ///< labels; empty: all
  std::size_t top = 0;              ///< conversations
};

class ProbeKind : public config::ProbeFormat {
 public:
  // what it needs
  /// What the model must predict; nothing: vectors, which every model has. Unless overridden: the next token.
  virtual std::optional<query::Prediction> prediction() const { return query::Prediction::next; }
  /// A query of the kind that asks for vectors; nothing: no vectors are asked.
  virtual std::optional<query::Embed> vectors(const sweep::Job& /*job*/) const { return std::nullopt; }
  /// Whether texts are sampled, whose rows a causal model keeps.
  virtual bool samples_text(const sweep::Job& /*job*/) const { return false; }
  /// Files besides the model that a run will read, with what they are: ("corpus", path).
  virtual std::vector<std::pair<std::string, std::string>> inputs(const sweep::Job& /*job*/) const { return {}; }
  /// Throws InputError where an input is not there or cannot be read.
  virtual void check_inputs(const sweep::Job& /*job*/) const {}

  // what it does
  /// Of a job whose only stage asks the tokenizer's model; null: `stages` says more. `tokenizer` must outlive the
  /// probe; it is null where a server is asked. Throws InputError with everything that keeps the job from being asked
  /// of this tokenizer.
  virtual std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer) const = 0;
  /// In order, the last one is the result. Unless overridden: one stage of `make_probe`, exported as NAME.h5.
  virtual std::vector<std::unique_ptr<Stage>> stages(const sweep::Job& job) const;
  /// Names in the run directory beside NAME.h5 and NAME.stats.h5: a run that starts anew removes them.
  virtual std::vector<std::string> run_files() const { return {}; }

  // what it says
  /// One line: the sizes of the job's axes.
  virtual std::string summary(const sweep::Job& job) const = 0;
  /// Sentences: what of the job's settings keeps a reader from taking its numbers as they stand. `validate`, the log of
  /// a run and `stats` tell them; the statistics file has them as its attribute `warnings`, one a line.
  std::vector<std::string> warnings(const sweep::Job& job) const;
  /// Those of this probe. Unless overridden: of articles before the plural of a group.
  virtual std::vector<std::string> own_warnings(const sweep::Job& job) const;
  /// Groups and intersections that are not measured, for the plans of causal models and of servers.
  virtual std::vector<sweep::Omission> omissions(const sweep::Job& /*job*/) const { return {}; }
  /// Unless overridden: the summary, blocks, size of the output, time.
  virtual void plan(const PlanRequest& request) const;
  /// After head, axes and cubes; nothing unless overridden.
  virtual void show(const results::ResultFile& /*file*/, Detail /*detail*/, std::size_t /*top*/) const {}
  /// Prints sampled conversations. Throws InputError unless overridden: the probe keeps none.
  virtual void show_answers(const AnswersRequest& request) const;
  /// What `stats` computes of the score table: what the job asks for, and what the probe always adds.
  virtual sweep::Comparison comparison(const sweep::Job& job) const { return job.comparison; }
  /// The same, where measures that nobody has named for decisions are the recommended ones: a sweep would go on for the
  /// last of all measures.
  sweep::Comparison asked(const sweep::Job& job) const;
  /// Axes of the score table that the job alone tells, made as those of a result are; unless overridden: none.
  virtual results::ScoreTableAxes score_axes(const sweep::Job& /*job*/) const { return {}; }
  /// What of the score table the job leaves out; unless overridden: nothing.
  virtual findings::LeftOut left_out(const sweep::Job& /*job*/) const { return {}; }
  std::vector<sweep::KeyFault> statistics_faults(const sweep::Job& job) const final;
  std::vector<std::string> design_faults(const sweep::Job& job) const final;
  sweep::DecideRequest::Plan plan_of_pilot(const sweep::Job& job) const final;
  sweep::DecideRequest decide_after(const sweep::Job& job) const final;
  /// The score table of a finished run of the probe (a run directory, or its result file), as `stats` has left it
  /// beside the result. Throws InputError where there is none, or the run has not scored all of its table.
  results::ScoreFile open_pilot(const std::filesystem::path& place) const;
  /// What keeps a run of the job from asking in rounds (statistics.decide).
  std::vector<sweep::KeyFault> faults_of_rounds(const sweep::Job& job) const;
  /// The labels of the one measure that `stats` prints unless it is asked for all, in every table where it has one (a
  /// score of the score table, its agreement with people); empty: all are printed.
  virtual std::vector<std::string> recommended_measures(const sweep::Job& /*job*/) const { return {}; }
  /// Raw cubes -> the one table, in `target` (`results::write_score_table`), with what else is found; gives the tables
  /// to print; rank zero. Throws InputError if the file is no result of the probe.
  virtual StatsText stats(const StatsRequest& request) const = 0;
  /// Whether its own findings answer what means of the score table would answer again, by less.
  virtual bool answers_itself() const { return false; }
  /// Whether `stats` can parse stored texts again.
  virtual bool parses_texts() const { return false; }
  /// What the other ranks do until `target.finish`.
  virtual void assist(const StatsRequest& /*request*/) const {}
};

/// A kind whose settings list their keys: `Settings::each_key`, and that of its member `statistics` where it has one.
/// What no single key can tell is reported by `check_settings(job, settings)`, where their namespace has it.
template <class Settings>
class KindOf : public ProbeKind {
 public:
  std::string_view name() const final { return Settings::probe_name; }
  sweep::ProbeSettings read(const config::ProbeReading& job) const final {
    Settings settings;
    Settings::each_key(settings, job.fields);
    each_statistic(settings, job.statistics);
    if constexpr (requires { check_settings(job, settings); }) {
      check_settings(job, settings);
    }
    return settings;
  }
  void dump(const sweep::ProbeSettings& settings, config::ShownKeys& job) const final {
    job.append(config::dump_extent(settings.as<Settings>(), job.extent()));
  }
  void dump_statistics(const sweep::ProbeSettings& settings, config::ShownKeys& statistics) const final {
    if constexpr (requires { settings.as<Settings>().statistics; }) {
      statistics.append(config::dump_extent(settings.as<Settings>().statistics, statistics.extent()));
    }
  }
  void describe(config::ShownKeys& job, config::ShownKeys& statistics) const final {
    const Settings settings;
    Settings::each_key(settings, job);
    each_statistic(settings, statistics);
  }

 private:
  static void each_statistic(auto& settings, auto& keys) {
    if constexpr (requires { settings.statistics; }) {
      std::remove_cvref_t<decltype(settings.statistics)>::each_key(settings.statistics, keys);
    }
  }
};

/// Throws InputError where the file is no result of the probe.
void require_result_of(const results::ResultFile& file, std::string_view probe);

/// Those that were added with `config::add_probe_format`. Throws InputError where no probe has the name.
const ProbeKind& kind_of(std::string_view name);
const ProbeKind& kind_of(const sweep::Job& job);
/// The probe of a job of one stage. Throws InputError; std::logic_error where the job has several.
std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer);

// Which contexts of its product a probe asks, and which of them together: all; those of one round together, where a run
// stops asking once it knows (statistics.decide); or those alone that a sparse design deals (axes.design).

/// [template x rephrasings + rephrasing]: the round in which a sentence is asked, sweep::never_visited where it is
/// not; empty: the job asks all at once. Throws InputError with names that its contrasts lack.
std::vector<std::uint8_t> visits_of(const sweep::Job& job);

/// Blocks of the product of the outer axes as the job has them asked. Throws as visits_of, and where the probe's
/// contexts have no templates and rephrasings that could be dealt.
sweep::BlockPlan blocks_to_ask(const sweep::Job& job, const results::RawSchema& schema,
                               sweep::Outermost outermost = sweep::Outermost::apart);

/// Place of an outer axis. Throws InputError where there is none.
std::size_t outer_axis(const results::RawSchema& schema, const char* name);

/// Of each context of an outermost value the place of its sentence (template x rephrasings + rephrasing).
std::vector<std::uint64_t> sentences_of(const results::RawSchema& schema);

/// Default of `execution.batch_tokens` for causal models: of 2.2 million tokens of the benchmark's prompts 1.2 % run
/// twice, with 1024 a tree 5.1 %; 7 % faster on GPT-2.
constexpr std::int64_t causal_batch_tokens = 4096;

/// On a GPU, where texts are sampled: up to 16 times as many rows are remembered while texts grow, 17 GB of an
/// 8-billion LLaMA's keys and values in 16 bits.
constexpr std::int64_t sampling_gpu_tokens = 8192;

/// Contexts that `plan` reads one by one; a larger product is sampled, so that 10^9 cells answer within seconds.
constexpr std::uint64_t max_contexts_planned = 20'000;

}  // namespace stereosweep::probes
