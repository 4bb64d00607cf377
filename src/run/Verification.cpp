#include "run/Verification.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/Sha256.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"
#include "parallel/Communicator.hpp"
#include "probes/ProbeKind.hpp"
#include "results/Journal.hpp"
#include "results/RawBlock.hpp"
#include "results/Reader.hpp"
#include "results/Seal.hpp"
#include "run/DecidedRounds.hpp"
#include "run/JobModel.hpp"
#include "run/JobStages.hpp"
#include "run/checks/ChatAudit.hpp"
#include "run/directory/RunDirectory.hpp"
#include "run/ranks/Scorer.hpp"

namespace stereosweep::run {
namespace {

/// Of a float32 model on other hardware or with other settings (nat; relative where a number is larger than 1).
constexpr double tolerance = 0.0001;
constexpr const char* bound = "0.0001 (nat; relative where a number is larger than 1)";

struct Tally {
  std::uint64_t compared = 0;
  std::uint64_t different = 0;  ///< in any bit
  std::string place;            ///< of the first that differs: cube, labels and both values
};

/// What the blocks of one stage came to.
struct StageAgreement {
  std::string stage;           ///< "" where the job has one
  std::uint64_t scored = 0;    ///< blocks in the journal
  std::uint64_t compared = 0;  ///< blocks
  Tally numbers;               ///< floating-point; NaN equals NaN; `place`: of the largest difference
  double largest = 0;          ///< difference relative to max(1, |stored|); infinite where one of two is not finite
  Tally counts;                ///< whole numbers: what SeT took to converge, token ids
  Tally words;                 ///< statuses and texts
};

/// Files of another model or tokenizer make other numbers, whatever the machine.
void require_same_files(const std::vector<std::string>& differences) {
  const auto files = base::filtered(differences, is_of_file);
  base::refuse_if(!files.empty(), "the model is not the one that the run has read", base::join(files, "; "),
                  "put the run's files back; it names them and their hashes in its attribute 'settings'");
}

/// The records to score again: the same for the same journal, share and seed.
std::vector<const results::JournalRecord*> sample_of(const results::JournalStore& store,
                                                     const VerificationRequest& request) {
  auto order = base::mapped(store.records(), [&](const results::JournalRecord& record) {
    return std::pair(base::sha256(std::to_string(request.seed) + " " + std::to_string(record.block_index)), &record);
  });
  const auto wanted = static_cast<std::size_t>(std::ceil(request.share * static_cast<double>(order.size())));
  const auto count = std::min(std::max<std::size_t>(wanted, 1), order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count));
  auto sample = base::mapped(order | std::views::take(count), [](const auto& item) { return item.second; });
  std::ranges::sort(sample, {}, &results::JournalRecord::block_index);
  return sample;
}

void compare_numbers(StageAgreement& agreement, double before, double after, const auto& place) {
  ++agreement.numbers.compared;
  const bool is_zero_turned = before == 0 && std::signbit(before) != std::signbit(after);
  if ((before == after && !is_zero_turned) || (std::isnan(before) && std::isnan(after))) {
    return;
  }
  ++agreement.numbers.different;
  const bool finite = std::isfinite(before) && std::isfinite(after);
  const auto difference =
      finite ? std::abs(after - before) / std::max(1.0, std::abs(before)) : std::numeric_limits<double>::infinity();
  if (difference > agreement.largest || agreement.numbers.different == 1) {
    agreement.largest = difference;
    agreement.numbers.place = place();
  }
}

std::string shown(const std::string& text) { return "'" + base::excerpt(base::printable(text), 60) + "'"; }
std::string shown(std::integral auto number) { return std::to_string(number); }

template <class T>
void compare_words(Tally& tally, const T& before, const T& after, const auto& place) {
  ++tally.compared;
  if (before != after && tally.different++ == 0) {
    tally.place = place() + ": " + shown(before) + ", now " + shown(after);
  }
}

/// Cube by cube.
void compare_blocks(const probes::Probe& probe, const sweep::Block& block, const results::RawBlock& stored,
                    const results::RawBlock& now, StageAgreement& agreement) {
  ++agreement.compared;
  const auto& cubes = probe.schema().cubes;
  for (std::size_t c = 0; c < cubes.size(); ++c) {
    std::visit(
        [&]<class T>(const std::vector<T>& before) {
          const auto& after = std::get<std::vector<T>>(now.columns[c]);
          for (std::size_t i = 0; i < before.size(); ++i) {
            const auto place = [&] { return cubes[c].name + " of " + probes::place_of(probe, block, cubes[c], i); };
            if constexpr (std::is_floating_point_v<T>) {
              compare_numbers(agreement, before[i], after[i], place);
            } else if constexpr (std::is_same_v<T, std::int32_t>) {
              compare_words(agreement.counts, before[i], after[i], place);
            } else {
              compare_words(agreement.words, before[i], after[i], place);
            }
          }
        },
        stored.columns[c]);
  }
}

/// Scores the sample of one stage again.
StageAgreement verify_stage(const probes::Probe& probe, const results::JournalStore& store, const std::string& name,
                            const VerificationRequest& request, query::Engine& engine) {
  StageAgreement agreement;
  agreement.stage = name;
  agreement.scored = store.records().size();
  for (const auto* record : sample_of(store, request)) {
    const auto block = probe.blocks().block(record->block_index);
    const auto scored = score_block(probe, engine, block);
    if (!scored.failure.empty()) {
      throw base::Error(scored.failure, scored.failure_code);
    }
    base::ByteReader in(scored.payload);
    compare_blocks(probe, block, *store.read_block(block, probe.schema()),
                   results::RawBlock::read(in, probe.schema(), block.num_contexts), agreement);
  }
  return agreement;
}

/// A line on an HDF5 file of the run, by its seal (results/Seal.hpp), and whether its bytes are damaged.
std::pair<std::string, bool> check_file(const std::filesystem::path& path) {
  const auto name = path.filename().string();
  try {
    if (results::check_seal(path) == results::Seal::intact) {
      return {name + ": every byte is as it was written", false};
    }
    const results::ResultFile readable(path);
    return {name + ": it has no seal, so another program has changed it; it can be read", false};
  } catch (const base::InputError& error) {
    return {name + ": NOT intact: " + error.what(), true};
  }
}

/// Whether a setting belongs to the machine or its software, not to the job.
bool is_of_the_machine(const std::string& difference) {
  return is_software(difference) || difference.starts_with("device:");
}

/// "level A: ...": at which level of the numerical contract the stages agree with the run; nothing: at none.
std::optional<std::string> level_of(const std::vector<StageAgreement>& stages,
                                    const std::vector<std::string>& differences, const sweep::ModelSpec& model) {
  const auto any_differs = [&](Tally StageAgreement::*tally) {
    return std::ranges::any_of(stages, [&](const auto& stage) { return (stage.*tally).different > 0; });
  };
  const bool words_differ = any_differs(&StageAgreement::words);
  if (!words_differ && !any_differs(&StageAgreement::numbers) && !any_differs(&StageAgreement::counts)) {
    return model.server
               ? "level S: from the kept answers of the server every number that was compared is the same, bit "
                 "for bit; the answers themselves cannot be had again"
               : "level A: every number of the journal that was compared is the same, bit for bit";
  }
  if (differences.empty() || words_differ) {
    return std::nullopt;
  }
  if (model.dtype != query::Dtype::float32) {
    return "no level: settings or machine differ, and for a 16-bit model no bound is promised";
  }
  if (std::ranges::any_of(stages, [](const auto& stage) { return stage.largest > tolerance; })) {
    return std::nullopt;
  }
  return std::string(std::ranges::any_of(differences, is_of_the_machine) ? "level C: machine or software differ"
                                                                         : "level B: the settings differ") +
         ", and the numbers agree within " + bound;
}

std::string line_of(const std::string& what, const Tally& tally, const std::string& by = "") {
  if (tally.compared == 0) {
    return "";
  }
  return "  " + what + ": " + base::with_thousands(tally.compared) + " compared, " +
         (tally.different == 0 ? "all equal"
                               : base::with_thousands(tally.different) + " differ" + by + " (" + tally.place + ")") +
         "\n";
}

std::string describe(const StageAgreement& stage, const VerificationRequest& request) {
  return (stage.stage.empty() ? "" : stage.stage + ": ") + base::with_thousands(stage.compared) + " of " +
         base::counted(stage.scored, "block") + " scored again (seed " + std::to_string(request.seed) + ")\n" +
         line_of(
             "numbers", stage.numbers,
             stage.largest > 0 ? ", by at most " + base::format_double(stage.largest) : " in the sign of zero alone") +
         line_of("counts", stage.counts) + line_of("statuses and texts", stage.words);
}

/// Of a run whose numbers agree at no level.
std::string refutation(const std::vector<std::string>& differences) {
  return differences.empty()
             ? "NOT verified: nothing that is known to change a bit differs, and yet the numbers are others (damaged "
               "memory, or a fault of this program)"
             : std::string("NOT verified: the numbers differ by more than ") + bound + ", or statuses or texts differ";
}

}  // namespace

Verification verify_run(const VerificationRequest& request) {
  const RunDirectory directory(request.directory);
  auto job = directory.job();
  base::refuse_if(!job.needs_model(), "this job asks no model", "there is nothing to score again");
  job.execution.tensor_parallel = 1;
  ScoringParts machine{.files = base::FileSet(""), .tokenizer = {}, .job = job, .gpu = {}};
  const parallel::Communicator nobody;
  KeptModel model;
  const auto own = read_model(machine, model, nobody, ModelUse::verification);
  const probes::StageRequest stage_request{.job = job,
                                           .world = nobody,
                                           .directory = directory.root(),
                                           .files = machine.files,
                                           .tokenizer = machine.tokenizer ? &*machine.tokenizer : nullptr};
  std::vector<StageAgreement> stages;
  std::vector<std::string> differences;  // of the settings that decide bits: the run's, now this program's
  std::string conversations;
  std::unique_ptr<query::Engine> engine;
  for (const auto& stage : probes::kind_of(job).stages(job)) {
    if (stage->asks() != probes::Stage::Asks::model) {
      continue;
    }
    const auto store = results::JournalStore::open(directory.root(), stage->name());
    base::refuse_if(store.records().empty(), "'" + directory.root().string() + "' holds no block to score again",
                    !store.damage().empty() ? base::join(store.damage(), "; ")
                    : stage->name().empty()
                        ? "its journal is missing or empty"
                        : "the journal of the stage '" + stage->name() + "' was not kept, or is gone");
    base::refuse_if(store.attempts().front().job_hash != raw_job_hash(job),
                    "job.resolved.yaml is not the job of the journal", "it was changed after the run");
    const auto& settings = store.attempts().front().settings;
    auto now = decides(job) ? with_field(own, decisions_field, decision_settings(job)) : own;
    const auto differences_now = [&] {
      return job.model.server ? std::vector<std::string>() : settings_differences(settings, now.text);
    };
    require_same_files(differences_now());
    const auto probe = stage->reopen(stage_request);
    if (!probe) {
      refuse_unread(*stage, directory.root());
    }
    for (const auto& [key, value] : stage->settings()) {
      now = with_field(now, key, value);
    }
    differences = differences_now();
    require_blocks(store, probe->blocks());
    if (!engine) {
      engine = make_engine(machine, directory.root(), std::nullopt, nullptr);  // a server might say other things
    }
    conversations = audit_chat(job, *probe, store).line;
    stages.push_back(verify_stage(*probe, store, stage->name(), request, *engine));
  }
  std::string text;
  for (const auto& stage : stages) {
    text += describe(stage, request);
  }
  text += conversations + (conversations.empty() ? "" : "\n");
  for (const auto& line : differences) {
    text += "differs from the run: " + line + "\n";
  }
  bool is_damaged = false;
  for (const auto& path : directory.result_files()) {
    const auto [line, has_other_bytes] = check_file(path);
    text += line + "\n";
    is_damaged = is_damaged || has_other_bytes;
  }
  if (const auto result = directory.export_file(job); !std::filesystem::exists(result)) {
    text += result.filename().string() + ": it is not there; 'stereosweep export " + directory.root().string() +
            "' makes it from the journal\n";
  }
  const auto level = level_of(stages, differences, job.model);
  return {text + level.value_or(refutation(differences)) + "\n", level && !is_damaged};
}

}  // namespace stereosweep::run
