#include "run/StageRun.hpp"

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"
#include "engine/EngineFactory.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/MpiSession.hpp"
#include "probes/ProbeKind.hpp"
#include "run/ExportDirectory.hpp"
#include "run/Signals.hpp"

namespace stereosweep::run {
namespace {

using base::with_thousands;
using parallel::coordinated;

std::uint64_t contexts_in(const results::JournalStore& store) {
  std::uint64_t sum = 0;
  for (const auto& record : store.records()) {
    sum += record.num_contexts;
  }
  return sum;
}

/// Refuses a model whose every answer would be an error.
void require_prediction(const sweep::Job& job, const query::Engine& engine) {
  const auto prediction = probes::kind_of(job).prediction();
  if (!prediction) {
    return;
  }
  if (const auto why = engine.lacks(*prediction)) {
    throw base::InputError(
        base::describe("model.path: " + job.probe_name() + " cannot ask '" + job.model.path + "'", *why,
                       *prediction == query::Prediction::masked
                           ? "Use a masked model with its head (BertForMaskedLM, RobertaForMaskedLM)."
                           : "Use a causal model with its head (...ForCausalLM)."));
  }
}

}  // namespace

void StageRun::open() {
  job_.on_rank_zero([&] { read_journals(); });
  agree_whether_complete();
}

void StageRun::read_journals() {
  store_ = results::JournalStore::open(job_.directory.root(), stage_.name());
  for (const auto& line : store_->damage()) {
    base::log(base::LogLevel::warning, line);
  }
  const auto& blocks = probe_->blocks();
  try {
    job_.directory.require_same_settings(
        *store_, job_.job(), settings_,
        store_->records().size() == blocks.num_blocks() ? RunDirectory::Left::nothing : RunDirectory::Left::blocks);
  } catch (const base::InputError&) {
    job_.keep_earlier_end();
    throw;
  }
  job_.forget_earlier_end();
  job_.write_resolved_job();  // only now: it may name another model, and what lies here must stay exportable
  left_.emplace(blocks.num_blocks());
  for (const auto& record : store_->records()) {
    if (record.block_index >= blocks.num_blocks() ||
        record.num_contexts != blocks.block(record.block_index).num_contexts) {
      throw base::Error(base::describe("the journal holds a block that this job does not have",
                                       "block " + std::to_string(record.block_index), "start anew with --overwrite"));
    }
    left_->mark_done(record.block_index);
  }
  show_in_status();
}

void StageRun::show_in_status() {
  const auto& blocks = probe_->blocks();
  job_.status->update([&](RunStatus& status) {
    const auto cells = cells_per_context(probe_->schema());
    status.stage = stage_.name();
    status.blocks_total = blocks.num_blocks();
    status.blocks_done = status.blocks_resumed = left_->num_done();
    status.blocks_reused = 0;
    status.cells_total = blocks.product().num_contexts() * cells;
    status.cells_done = contexts_in(*store_) * cells;
    status.cost = stage_.cost_before();
    status.cost += store_->cost();
  });
}

void StageRun::start_attempt() {
  results::JournalHeader header;
  header.job_hash = raw_job_hash(job_.job());
  header.settings = settings_.text;
  header.facts = attempt_facts(job_.hosts, job_.gpus, job_.job_text);
  header.attempt = results::make_attempt_name();
  job_.status->change([&](RunStatus& status) { status.attempt = header.attempt; });
  journal_ = std::make_unique<results::JournalWriter>(job_.directory.root(), header, stage_.name());
  if (!job_.request.reuse.empty()) {
    take_over(job_.request.reuse);
  }
}

void StageRun::take_over(const std::filesystem::path& old_directory) {
  require_reusable(old_directory);
  const auto old_store = results::JournalStore::open(old_directory, stage_.name());
  const auto& blocks = probe_->blocks();
  const auto fingerprint = job_.settings.fingerprint();
  std::uint64_t taken = 0;
  std::uint64_t contexts = 0;
  query::EngineCounts cost;
  for (std::uint64_t index = 0; !old_store.records().empty() && index < blocks.num_blocks(); ++index) {
    const auto block = blocks.block(index);
    if (left_->is_done(index)) {
      continue;
    }
    const auto key = probes::block_key(*probe_, block, fingerprint);
    const auto* record = old_store.find(key);
    if (record == nullptr || record->num_contexts != block.num_contexts) {
      continue;
    }
    const auto block_cost = old_store.cost(*record);
    journal_->stage({key, index, block.num_contexts, block_cost}, old_store.read(*record));
    cost += block_cost;
    if (journal_->staged_bytes() > (std::size_t{8} << 20)) {
      journal_->commit();
    }
    left_->mark_done(index);
    ++taken;
    contexts += block.num_contexts;
  }
  journal_->commit();
  base::log(base::LogLevel::info,
            "reused " + with_thousands(taken) + " of " + base::counted(blocks.num_blocks(), "block") +
                (stage_.name().empty() ? "" : " of stage " + stage_.name()) + " from " + old_directory.string());
  if (taken == 0 && !old_store.attempts().empty()) {
    warn_of_no_reuse(old_directory, old_store);
  }
  job_.status->update([&](RunStatus& status) {
    status.blocks_reused = taken;
    status.blocks_done += taken;
    status.cells_done += contexts * cells_per_context(probe_->schema());
    status.cost += cost;
  });
}

void StageRun::warn_of_no_reuse(const std::filesystem::path& old_directory,
                                const results::JournalStore& old_store) const {
  const RunDirectory old(old_directory);
  auto fields = old.differences(job_.job(), old_store.attempts().front().settings, settings_);
  std::string advice;
  if (fields.empty()) {
    fields = old.differences(job_.job());
    advice = "Blocks (" + std::to_string(job_.job().execution.contexts_per_block) +
             " contexts in a row, with all that is asked of them) stay the same where values of the axis '" +
             probe_->schema().outer_axes.front().name + "' are added; other changes can reach all of them.";
  }
  base::log(base::LogLevel::warning,
            base::describe("no block of " + old_directory.string() + " fits this job", first_few(fields), advice));
}

base::ExitCode StageRun::score() {
  job_.on_rank_zero([&] {
    show_in_status();
    start_attempt();
  });
  agree_whether_complete();
  if (complete_) {
    return base::ExitCode::done;
  }
  const bool asks_model = stage_.asks() == probes::Stage::Asks::model;
  const TensorRanks ranks(job_.world, asks_model ? job_.job().execution.tensor_parallel : 1);
  ScorerParts scorer_parts{probe_,
                           job_.settings.fingerprint(),
                           {},
                           ranks.tensors(),
                           std::chrono::seconds(job_.job().execution.block_limit_s)};
  if (asks_model) {
    auto settings = engine_settings(job_.job());
    settings.tensor_group = ranks.tensors();
    scorer_parts.make_engine = [parts = job_.scoring, settings]() -> std::unique_ptr<query::Engine> {
      parallel::use_gpu(parts->gpu);
      auto engine = engine::make_engine(settings, parts->files, *parts->tokenizer);
      require_prediction(parts->job, *engine);
      return engine;
    };
  }
  const auto end = serve(scorer_parts, ranks);
  complete_ = end == base::ExitCode::done;
  return end;
}

void StageRun::announce() {
  job_.status->update([](RunStatus& status) { status.state = "running"; });
  const auto status = job_.status->current();
  base::log(base::LogLevel::info,
            status.name + (stage_.name().empty() ? "" : ", stage " + stage_.name()) + ": " +
                with_thousands(left_->size() - left_->num_done()) + " of " + base::counted(left_->size(), "block") +
                " to score (" + with_thousands(status.blocks_resumed) + " resumed, " +
                with_thousands(status.blocks_reused) + " reused), " + base::counted(status.cells_total, "cell") + ", " +
                base::counted(static_cast<std::uint64_t>(job_.world.size()), "rank") + ", into " +
                job_.directory.root().string());
}

/// A rank that follows gets the same signals as its leader, and what that one decides holds for the group.
base::ExitCode StageRun::serve(const ScorerParts& scorer_parts, const TensorRanks& ranks) {
  Scorer scorer(scorer_parts);
  coordinated(job_.world, [&] { scorer.wait_until_ready(); });
  StopOrder order;
  if (!ranks.leads()) {
    job_.remember_signals();
    order = ranks.wait_for_dismissal();
  } else {
    parallel::Messenger messenger(ranks.leaders());
    const auto places = parallel::places_of(ranks.leaders(), job_.world.rank());
    if (job_.leads()) {
      announce();
    }
    job_.remember_signals();
    order = job_.leads() ? lead(messenger, scorer, places)
                         : work_for_rank_zero(messenger, scorer, probe_->blocks(), job_.signals);
    ranks.dismiss(order, scorer.idle() ? TensorRanks::Work::ended : TensorRanks::Work::given_up);
  }
  if (order.exit_code != base::ExitCode::done && order.exit_code != base::ExitCode::resume) {
    throw parallel::SharedError(order.cause, order.exit_code);
  }
  return order.exit_code;
}

StopOrder StageRun::lead(parallel::Messenger& messenger, Scorer& scorer,
                         const std::vector<parallel::RankPlace>& places) {
  const auto end = coordinate({messenger, scorer, *probe_, *journal_, *job_.lease, *job_.status, job_.signals, places,
                               cells_per_context(probe_->schema())},
                              *left_);
  if (end.order.exit_code != base::ExitCode::done) {
    job_.write_end(end.order.state(), end.order.cause);
  }
  if (!end.unreached.empty()) {
    base::log(base::LogLevel::error,
              places[static_cast<std::size_t>(end.unreached.front())].name + " does not answer: all ranks are aborted");
  }
  if (end.order.exit_code == base::ExitCode::resume) {
    base::log(base::LogLevel::warning, std::string("stopped: ") + how_to_go_on);
  }
  if (!end.unreached.empty()) {
    parallel::abort_all_ranks(static_cast<int>(end.order.exit_code));
  }
  return end.order;
}

const results::JournalStore& StageRun::reread() {
  journal_.reset();
  store_ = results::JournalStore::open(job_.directory.root(), stage_.name());
  if (const auto lost = left_->size() - store_->records().size(); complete_ && lost > 0) {
    throw base::Error(base::describe(
        with_thousands(lost) + " of " + base::counted(left_->size(), "block") + " in the journal no more",
        "its files in " + results::journal_directory(job_.directory.root(), stage_.name()).string() +
            " were deleted or damaged during the run",
        "run the same command again"));
  }
  return *store_;
}

}  // namespace stereosweep::run
