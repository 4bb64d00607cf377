#include "run/DecidedRounds.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/files/File.hpp"
#include "base/files/Listing.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "config/yaml/Fields.hpp"
#include "config/yaml/Yaml.hpp"
#include "findings/sharing/Sharing.hpp"
#include "probes/ProbeKind.hpp"
#include "results/tables/TerminalTable.hpp"
#include "run/directory/RunDirectory.hpp"

namespace stereosweep::run {
namespace {

constexpr const char* record_schema = "stereosweep/rounds/1.0";

/// "3 positive, 1 undecided_here, 4 open"
std::string counts_text(const findings::Decisions& decisions) {
  const auto names = findings::decision_names();
  std::vector<std::string> counts;
  for (std::size_t status = 0; status < names.size(); ++status) {
    const auto count = std::ranges::count_if(decisions.rows, [&](const findings::DecidedRow& row) {
      return static_cast<std::size_t>(row.status) == status;
    });
    if (count > 0) {
      counts.push_back(std::to_string(count) + " " + names[status]);
    }
  }
  return base::join(counts, ", ");
}

}  // namespace

bool decides(const sweep::Job& job) { return probes::kind_of(job).comparison(job).decide.has_value(); }

std::string decision_settings(const sweep::Job& job) {
  auto comparison = probes::kind_of(job).asked(job);
  comparison.decide->plan.pilot.clear();  // its numbers count, wherever it lies
  if (comparison.decide->after) {
    comparison.decide->after->run.clear();
  }
  const auto dump = [](const auto& asked) {
    return config::emit_yaml(config::dump_extent(asked, config::Extent::everything));
  };
  auto text = dump(*comparison.decide) + "seed: " + std::to_string(job.seed) + "\n";
  for (const auto& contrast : comparison.contrasts) {
    text += dump(contrast);
  }
  return base::to_hex(base::sha256(text));
}

void require_decidable(const sweep::Job& job) {
  base::Problems problems;
  for (const auto& fault : probes::kind_of(job).faults_of_rounds(job)) {
    problems.add({}, fault.problem, "");
  }
  problems.raise_if_any(job.name + ":");
  probes::visits_of(job);
}

DecidedRounds::DecidedRounds(const std::filesystem::path& root, const sweep::Job& job, const probes::Probe& probe,
                             const parallel::Communicator& world)
    : root_(root), job_(job), probe_(probe), world_(world) {}

RoundsRecord RoundsRecord::read(const std::filesystem::path& root) {
  const auto path = root / rounds_name;
  RoundsRecord record;
  if (!base::is_there(path)) {
    return record;
  }
  const auto json = base::parse_json(base::read_file(path), path.string());
  try {
    base::refuse_if(json.at("schema") != record_schema, "'" + path.string() + "' is no record of rounds",
                    "its schema is another one");
    json.at("rounds").get_to(record.rounds);
    json.at("num_blocks").get_to(record.num_blocks);
    json.at("is_finished").get_to(record.is_finished);
  } catch (const base::Json::exception& error) {
    base::refuse("'" + path.string() + "' is no record of rounds", error.what(),
                 "Remove it: what the journal holds is decided again.");
  }
  return record;
}

void RoundsRecord::write(const std::filesystem::path& root) const {
  const base::Json json = {
      {"schema", record_schema}, {"rounds", rounds}, {"num_blocks", num_blocks}, {"is_finished", is_finished}};
  base::write_file_atomically(root / rounds_name, json.dump(2) + "\n");
}

std::vector<std::uint64_t> DecidedRounds::wanted(const results::JournalStore* journal) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<findings::Scores> own;
  parallel::coordinated(world_, "decide_round", [&] {
    if (journal != nullptr) {
      if (!table_) {
        table_ = std::make_unique<RoundScores>(root_, job_, probe_);
      }
      table_->add(*journal);
      own = table_->scores();
      own->num_rounds = record.rounds.size();
    }
  });
  const findings::Workers workers{world_};
  const findings::SharedScores shared(own ? &*own : nullptr, workers);
  const findings::Deciding deciding(shared.scores(), probes::kind_of(job_).asked(job_), job_.seed);
  std::vector<std::uint64_t> blocks;
  parallel::coordinated(world_, [&] {
    if (journal != nullptr) {
      const auto before = record.rounds.size();
      blocks = advance(deciding, shared.scores(), *journal);
      if (record.rounds.size() > before) {
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        base::log(base::LogLevel::info, "deciding took " + results::fixed(took.count(), 1) + " s");
      }
    }
  });
  return blocks;
}

std::vector<std::uint64_t> DecidedRounds::advance(const findings::Deciding& deciding, const findings::Scores& scores,
                                                  const results::JournalStore& journal) {
  auto decisions = deciding.after(0);
  for (std::size_t round = 0;; ++round) {
    const auto needed = deciding.needed_next(decisions, round);
    if (needed.empty()) {
      record.num_blocks = journal.records().size();
      record.is_finished = true;
      record.write(root_);
      return {};
    }
    auto blocks = blocks_of(needed, scores);
    std::erase_if(blocks, [&](std::uint64_t block) { return journal.find_block(block) != nullptr; });
    if (!blocks.empty()) {  // also of a round that is written down, where the journal has lost some
      return blocks;
    }
    decisions = deciding.after(round + 1);
    const auto digest = base::to_hex(findings::digest_of_round(decisions, round));
    base::fail_if(round < record.rounds.size() && record.rounds[round] != digest,
                  "round " + std::to_string(round + 1) + " comes to other decisions than an earlier start wrote down",
                  "its journal has changed, or another build computes statistics otherwise",
                  "Go on with the program and the files of that start, or start anew with --overwrite.");
    if (round == record.rounds.size()) {
      record.rounds.push_back(digest);
      record.write(root_);
      base::log(base::LogLevel::info, "round " + std::to_string(record.rounds.size()) + ": of " +
                                          base::counted(decisions.rows.size(), "row") + " " + counts_text(decisions));
    }
  }
}

std::vector<bool> DecidedRounds::priors_to_ask(const findings::Scores& scores) const {
  const auto& schema = probe_.schema();
  std::vector<bool> asked(schema.num_priors, false);
  const auto is_decided = findings::decided_measures(scores, probes::kind_of(job_).asked(job_));
  const auto* priors = scores.axes[findings::measure_axis]->find_coordinate("prior");
  for (std::size_t measure = 0; measure < is_decided.size(); ++measure) {
    for (std::size_t prior = 0; is_decided[measure] && prior < asked.size(); ++prior) {
      const auto& label = schema.outer_axes.front().labels[prior];
      asked[prior] = asked[prior] || priors == nullptr || (*priors)[measure] == label;
    }
  }
  return asked;
}

std::vector<std::uint64_t> DecidedRounds::blocks_of(const std::vector<bool>& needed,
                                                    const findings::Scores& scores) const {
  std::vector<std::uint64_t> blocks;
  if (needed.empty()) {
    return blocks;
  }
  const auto& plan = probe_.blocks();
  const auto& schema = probe_.schema();
  const auto sentences = probes::sentences_of(schema);
  const auto num_sentences = scores.length(findings::template_axis) * scores.length(findings::rephrasing_axis);
  const auto& subjects = scores.axes[findings::subject_axis]->labels;
  const auto& groups = schema.outer_axes.front().labels;
  const auto priors = priors_to_ask(scores);
  for (std::uint64_t group = 0; group < groups.size(); ++group) {
    std::vector<bool> wanted(num_sentences, false);
    for (std::size_t subject = 0; subject < subjects.size(); ++subject) {
      const bool is_of = group < priors.size() ? priors[group] : subjects[subject] == groups[group];
      for (std::size_t sentence = 0; is_of && sentence < num_sentences; ++sentence) {
        wanted[sentence] = wanted[sentence] || needed[subject * num_sentences + sentence];
      }
    }
    for (std::uint64_t place = 0; place < plan.blocks_per_stretch(); ++place) {
      const auto block = plan.block(group * plan.blocks_per_stretch() + place);
      bool is_wanted = false;
      for (std::uint64_t context = 0; !is_wanted && context < block.num_contexts; ++context) {
        is_wanted = wanted[sentences[plan.context(block, context) % plan.contexts_per_outermost()]];
      }
      blocks.insert(blocks.end(), is_wanted ? 1 : 0, block.index);
    }
  }
  return blocks;
}

}  // namespace stereosweep::run
