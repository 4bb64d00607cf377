#include "run/directory/ExportDirectory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/files/Listing.hpp"
#include "base/files/PendingFile.hpp"
#include "base/process/Environment.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/process/Processors.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"
#include "findings/decisions/SparseDesign.hpp"
#include "parallel/MpiSession.hpp"
#include "probes/ProbeKind.hpp"
#include "results/RawBlock.hpp"
#include "results/Reader.hpp"
#include "results/Software.hpp"
#include "run/DecidedRounds.hpp"
#include "run/ServerAnswers.hpp"
#include "run/ranks/Progress.hpp"

namespace stereosweep::run {
namespace {

constexpr std::size_t max_examples = 5;
constexpr unsigned most_threads = 8;  ///< of an export: more would wait for the one that reads and writes

/// An end of an axis, or what the job does not ask: no failure.
bool tells_no_failure(const results::CubeSchema& cube, const std::string& flag) {
  return !cube.name.ends_with("status") || flag == "no_context" || flag == "not_asked";
}

/// Counts flags of all status cubes while blocks pass by on their way into the file.
class StatusCounter {
 public:
  explicit StatusCounter(const probes::Probe& probe)
      : probe_(probe), schema_(probe.schema()), counts_(base::mapped(schema_.cubes, [](const auto& cube) {
          return std::vector<std::uint64_t>(cube.flag_meanings.size(), 0);
        })) {}

  void add(const sweep::Block& block, const results::RawBlock& raw) {
    for (std::size_t c = 0; c < counts_.size(); ++c) {
      const auto& cube = schema_.cubes[c];
      const auto* flags = std::get_if<std::vector<std::uint8_t>>(&raw.columns[c]);
      for (std::size_t i = 0; flags != nullptr && !cube.flag_meanings.empty() && i < flags->size(); ++i) {
        const auto flag = (*flags)[i];
        ++counts_[c].at(flag);
        if (flag != 0 && examples.size() < max_examples && !tells_no_failure(cube, cube.flag_meanings[flag])) {
          examples.push_back(cube.flag_meanings[flag] + ": " + probes::place_of(probe_, block, cube, i));
        }
      }
    }
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (std::size_t c = 0; c < counts_.size(); ++c) {
      for (std::size_t flag = 0; flag < counts_[c].size(); ++flag) {
        if (counts_[c][flag] > 0) {
          const auto& cube = schema_.cubes[c];
          lines.push_back(cube.name + " " + cube.flag_meanings[flag] + ": " + base::counted(counts_[c][flag], "cell"));
        }
      }
    }
    return lines;
  }

  /// Why no cell has a number; "" where one has, or a text that was read.
  std::string why_none() const {
    const std::vector<std::string> without = {"no_context", "not_asked",         "not_reached", "excluded",
                                              "no_form",    "unknown_token",     "joins",       "no_tokens",
                                              "too_long",   "too_many_subwords", "not_finite",  "engine_error"};
    std::vector<std::string> reasons;
    for (std::size_t c = 0; c < counts_.size(); ++c) {
      for (std::size_t flag = 0; schema_.cubes[c].name.ends_with("status") && flag < counts_[c].size(); ++flag) {
        const auto& meaning = schema_.cubes[c].flag_meanings[flag];
        if (counts_[c][flag] > 0 && !base::contains(without, meaning)) {
          return "";
        }
        if (counts_[c][flag] > 0) {
          reasons.push_back(meaning + ": " + base::counted(counts_[c][flag], "cell"));
        }
      }
    }
    return base::join(reasons, ", ");
  }

  std::vector<std::string> examples;

 private:
  const probes::Probe& probe_;
  const results::RawSchema& schema_;
  std::vector<std::vector<std::uint64_t>> counts_;
};

/// What the heads of all attempts say, in order.
std::vector<base::Json> facts_of(const results::JournalStore& store) {
  return base::mapped(store.attempts(), [](const auto& attempt) {
    return base::parse_json(attempt.facts, "journal " + attempt.attempt);
  });
}

/// Of a field, with repeats.
std::vector<std::string> values_of(const std::vector<base::Json>& facts, const std::string& key) {
  return base::joined(facts, [&](const base::Json& attempt) {
    const auto& value = attempt.at(key);
    return (value.is_array() ? value : base::Json::array({value})).get<std::vector<std::string>>();
  });
}

/// Joined, without repeats and empty ones.
std::string distinct_of(const std::vector<base::Json>& facts, const std::string& key) {
  std::vector<std::string> found;
  for (const auto& text : values_of(facts, key)) {
    if (!text.empty()) {
      base::add_once(found, text);
    }
  }
  return base::join(found, ", ");
}

/// What the first attempt says; "" where there is none.
std::string first_of(const std::vector<base::Json>& facts, const std::string& key) {
  return facts.empty() ? "" : facts.front().at(key).get<std::string>();
}

/// As a shell wants it.
std::string as_typed(const std::string& text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-=@%:,";
  const bool is_plain = !text.empty() && text.find_first_not_of(plain) == std::string::npos;
  return is_plain ? text : "'" + base::replace_all(text, "'", "'\\''") + "'";
}

results::Attributes attributes_of(const sweep::Job& job, const results::JournalStore& store,
                                  const query::EngineCounts& cost) {
  const auto facts = facts_of(store);
  const RunSettings settings{store.attempts().empty() ? "{}" : store.attempts().front().settings};
  const auto raw_hash = raw_job_hash(job);
  base::Sha256 job_hash;
  job_hash.update(std::as_bytes(std::span(raw_hash))).update(settings.text);
  results::Attributes attributes = {{"created", first_of(facts, "started")},
                                    {"dependencies", distinct_of(facts, "dependencies")},
                                    {"machine", field_of(settings, "device")},
                                    {"hosts", distinct_of(facts, "hosts")},
                                    {"gpus", distinct_of(facts, "gpus")},
                                    {"num_ranks", base::join(values_of(facts, "num_ranks"), " ")},
                                    {"slurm_job_id", distinct_of(facts, "slurm_job_id")},
                                    {"seed", std::to_string(job.seed)},
                                    {"dtype", job.model.server ? "" : query::name_of(job.model.dtype)},
                                    {"job_sha256", base::to_hex(job_hash.finish())},
                                    {"model", job.model.shown()},
                                    {"model_sha256", files_hash(settings, "model")},
                                    {"tokenizer_sha256", files_hash(settings, "tokenizer")},
                                    {"settings", settings.text},
                                    {"num_queries", static_cast<std::int64_t>(cost.queries)},
                                    {"num_distinct_sequences", static_cast<std::int64_t>(cost.distinct_sequences)},
                                    {"num_distinct_tokens", static_cast<std::int64_t>(cost.distinct_tokens)},
                                    {"num_head_rows", static_cast<std::int64_t>(cost.head_rows)}};
  if (const auto storage = field_of(settings, "model.storage"); !storage.empty()) {
    attributes.emplace_back("model_storage", storage);
  }
  if (!job.model.adapter.empty()) {
    attributes.emplace_back("adapter", job.model.adapter);
    attributes.emplace_back("adapter_sha256", files_hash(settings, "model/adapter"));
  }
  if (!job.model.revision.empty()) {
    attributes.emplace_back("model_revision", job.model.revision);
  }
  return attributes;
}

/// Before a result takes its name.
void check_replacing(const std::filesystem::path& file, const results::ExportCounts& counts, std::uint64_t wanted,
                     const Lease* lease) {
  if (lease != nullptr) {
    lease->check();
  } else if (counts.num_blocks_scored < wanted && is_whole(file)) {
    base::fail("'" + file.string() + "' is complete and stays as it is",
               "the journal holds " + base::with_thousands(counts.num_blocks_scored) + " of " +
                   base::with_thousands(wanted) + " blocks",
               "continue the run with 'stereosweep run'");
  }
}

/// To the nearest number of 11 significant bits, ties to even; the range stays that of float32.
float rounded_to_half(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (!std::isfinite(value)) {
    return value;
  }
  bits += 0xfffU + ((bits >> 13U) & 1U);
  return std::bit_cast<float>(bits & ~0x1fffU);
}

void round_singles(results::RawBlock& raw) {
  for (auto& column : raw.columns) {
    if (auto* values = std::get_if<std::vector<float>>(&column)) {
      std::ranges::transform(*values, values->begin(), rounded_to_half);
    }
  }
}

}  // namespace

std::uint64_t cells_per_context(const results::RawSchema& schema) {
  const auto cube = std::ranges::find_if(schema.cubes, [](const auto& item) { return !item.flag_meanings.empty(); });
  return cube == schema.cubes.end() ? 1 : schema.values_per_context(*cube);
}

void log_summary(const std::string& stage, const ExportSummary& summary, const query::EngineCounts& cost) {
  const auto head = stage.empty() ? "" : stage + ": ";
  for (const auto& line : summary.lines) {
    base::log(base::LogLevel::info, head + line);
  }
  base::log(base::LogLevel::info, head + "work: " + work_text(cost));
  for (const auto& example : summary.examples) {
    base::log(base::LogLevel::info, "  e.g. " + example);
  }
}

void log_next_command(const std::filesystem::path& run_directory) {
  base::log(base::LogLevel::info,
            std::string("next: ") + as_typed(::program_invocation_name) + " stats " + as_typed(run_directory.string()));
}

bool is_whole(const std::filesystem::path& file) {
  if (!base::is_file(file)) {
    return false;
  }
  try {
    return results::ResultFile(file).complete();
  } catch (const base::InputError& error) {
    base::log(base::LogLevel::warning, std::string(error.what()) + ": writing it anew from the journal");
    return false;
  }
}

std::string attempt_facts(const std::vector<std::string>& hosts, const std::vector<std::string>& gpus,
                          const std::string& job_text) {
  const std::set<std::string> distinct_hosts(hosts.begin(), hosts.end());
  const base::Json facts = {{"software", "stereosweep " + results::software_version()},
                            {"started", base::utc_now()},
                            {"hosts", distinct_hosts},
                            {"num_ranks", std::to_string(hosts.size())},
                            {"gpus", gpus},
                            {"dependencies", base::Json::array({"libtorch " STEREOSWEEP_TORCH_VERSION,
                                                                "MPI: " + parallel::mpi_description()})},
                            {"slurm_job_id", base::text_from_environment("SLURM_JOB_ID")},
                            {"job_yaml", job_text}};
  return facts.dump(-1, ' ', false, base::Json::error_handler_t::replace);
}

ExportSummary export_stage(const RunDirectory& directory, const sweep::Job& job, const probes::Stage& stage,
                           const probes::Probe& probe, const results::JournalStore& store, const Lease* lease,
                           const std::function<void(std::uint64_t)>& show) {
  const auto target = *stage.file_on_request(job);
  const auto file = directory.root() / target.name;
  StatusCounter counter(probe);
  const Seconds interval(base::seconds_from_environment("STEREOSWEEP_PROGRESS_S", 10));
  auto last = Clock::now();
  results::RunDescription run;
  run.title = job.name;
  run.probe = target.kind;
  run.schema = &probe.schema();
  run.blocks = &probe.blocks();
  run.source = [&](const sweep::Block& block) -> std::optional<results::RawBlock> {
    auto raw = store.read_block(block, probe.schema());
    if (!raw) {
      return std::nullopt;
    }
    if (target.singles == probes::StageFile::Singles::half) {
      round_singles(*raw);
    }
    counter.add(block, *raw);
    if (Clock::now() - last >= interval) {
      last = Clock::now();
      base::log(base::LogLevel::info, "writing " + target.name + ": " + base::with_thousands(block.index + 1) + " of " +
                                          base::counted(probe.blocks().num_blocks(), "block"));
      show(block.index + 1);
    }
    return raw;
  };
  auto cost = stage.cost_before();
  cost += store.cost();
  run.attributes = attributes_of(job, store, cost);
  if (job.model.server) {
    run.attributes.emplace_back("server_models", base::join(names_in_answers(directory.root()), "\n"));
  }
  run.attributes.insert(run.attributes.end(), target.attributes.begin(), target.attributes.end());
  if (const auto design = job.design()) {
    run.attributes.emplace_back("design", findings::design_text(probes::kind_of(job).score_axes(job), *design));
  }
  if (decides(job)) {
    const auto record = RoundsRecord::read(directory.root());
    if (record.is_finished_with(store.records().size())) {
      run.num_blocks_wanted = record.num_blocks;
    }
    run.attributes.emplace_back("num_rounds", static_cast<std::int64_t>(record.rounds.size()));
  }
  run.documents = {{"job_yaml", first_of(facts_of(store), "job_yaml")}, {"job_resolved", config::canonical_dump(job)}};
  run.readers = target.readers;
  run.num_threads = std::min(most_threads, base::num_own_processors());
  std::shared_ptr<const int> lock;
  run.before_rename = [&](const results::ExportCounts& counts) {
    base::inject_fault("export:rename");
    lock = lock_result(directory.root());
    check_replacing(file, counts, run.num_blocks_wanted.value_or(counts.num_blocks), lease);
    show(counts.num_blocks);
  };
  const auto counts = results::export_run(run, file);
  return {counter.lines(), counts.digest, counter.why_none(), counter.examples,
          run.num_blocks_wanted.value_or(counts.num_blocks)};
}

}  // namespace stereosweep::run
