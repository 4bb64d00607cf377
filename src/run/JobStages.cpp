#include "run/JobStages.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/files/HubCache.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/text/Text.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/MpiSession.hpp"
#include "parallel/TensorGroup.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "results/Reader.hpp"
#include "run/DecidedRounds.hpp"
#include "run/checks/ChatAudit.hpp"
#include "run/directory/ExportDirectory.hpp"
#include "run/ranks/Coordinator.hpp"
#include "run/ranks/Signals.hpp"

namespace stereosweep::run {
namespace {

using base::with_thousands;
using parallel::coordinated;

/// Collective: what neighbours on a node that hold one model together (execution.tensor_parallel) share; null where
/// each rank holds one. Rank 0 of a group asks for blocks, scores and sends as any rank does; the others are
/// granted the same blocks, because their slices are needed, and drop the numbers. Throws on all ranks where those of
/// some node cannot be grouped so, or there is no memory to share.
std::shared_ptr<parallel::TensorGroup> make_tensor_group(const parallel::Communicator& world, int ranks_per_group) {
  if (ranks_per_group == 1) {
    return nullptr;
  }
  const auto node = world.node();
  coordinated(world, [&] {
    base::refuse_if(node.size() % ranks_per_group != 0,
                    "tensor_parallel: " + std::to_string(ranks_per_group) + " on a node with " +
                        std::to_string(node.size()) + (node.size() == 1 ? " rank" : " ranks"),
                    "a model's slices lie on one node",
                    "start a multiple of that many ranks per node, or change execution.tensor_parallel");
  });
  return std::make_shared<parallel::TensorGroup>(world, node.split(node.rank() / ranks_per_group));
}

/// One stage of a job: its journal, and scoring until all its blocks are in there. Made and used on all ranks.
class StageRun {
 public:
  /// `job` and `stage`, which is open, are borrowed. `settings`: heads of its journals: the job's, and what the stage's
  /// input adds.
  StageRun(JobParts& job, const probes::Stage& stage, std::shared_ptr<const probes::Probe> probe, RunSettings settings)
      : job_(job), stage_(stage), probe_(std::move(probe)), settings_(std::move(settings)) {
    if (decides(job.job())) {
      rounds_.emplace(job.directory.root(), job.job(), *probe_, job.world);
    }
  }

  /// Collective: reads the journals; nothing is written. Throws SharedError where they belong to something else.
  void open() {
    job_.on_rank_zero([&] { read_journals(); });
    agree_whether_complete();
  }

  /// All blocks are in the journal; the same on all ranks.
  bool complete() const { return complete_; }

  /// Collective, after open: takes over what can be reused, scores the rest. Exit code `done`: complete.
  base::ExitCode score() {
    job_.on_rank_zero([&] {
      job_.forget_earlier_end();  // until here a complete run stays complete, whatever fails
      require_space(show_in_status());
      start_attempt();
    });
    agree_whether_complete();
    if (complete_) {
      return base::ExitCode::done;
    }
    const bool asks_model = stage_.asks() == probes::Stage::Asks::model;
    const auto group = make_tensor_group(job_.world, asks_model ? job_.job().execution.tensor_parallel : 1);
    ScorerParts scorer_parts{
        probe_, job_.settings.fingerprint(), {}, group, std::chrono::seconds(job_.job().execution.block_limit_s)};
    if (asks_model) {
      scorer_parts.make_engine = [parts = job_.scoring, root = job_.directory.root(), header = journal_header(),
                                  group] { return make_engine(*parts, root, header, group); };
    }
    const auto end = serve(scorer_parts);
    complete_ = end == base::ExitCode::done;
    return end;
  }

  const probes::Probe& probe() const { return *probe_; }
  const RunSettings& settings() const { return settings_; }
  /// Another probe of the same blocks scores them: one that has opened what it reads.
  void use(std::shared_ptr<const probes::Probe> probe) { probe_ = std::move(probe); }

  /// Rank zero: the journal as it lies there now.
  const results::JournalStore& reread() {
    journal_.reset();
    store_ = results::JournalStore::open(job_.directory.root(), stage_.name());
    const auto lost = left_->size() - store_->records().size();
    base::fail_if(complete_ && lost > 0,
                  with_thousands(lost) + " of " + base::counted(left_->size(), "block") + " in the journal no more",
                  "its files in " + results::journal_directory(job_.directory.root(), stage_.name()).string() +
                      " were deleted or damaged during the run",
                  "run the same command again");
    return *store_;
  }

 private:
  void agree_whether_complete() { complete_ = job_.world.broadcast(job_.leads() && is_complete(), 0); }
  /// Rank zero.
  bool is_complete() const {
    return rounds_ ? rounds_->record.is_finished_with(left_->num_done()) : left_->num_done() == left_->size();
  }

  void read_journals() {
    const auto loan = job_.lend_processors();
    store_ = results::JournalStore::open(job_.directory.root(), stage_.name(), results::worth_an_index);
    for (const auto& line : store_->damage()) {
      base::log(base::LogLevel::warning, line);
    }
    const auto& blocks = probe_->blocks();
    try {
      if (rounds_) {
        rounds_->record = RoundsRecord::read(job_.directory.root());
      }
      const auto num_records = store_->records().size();
      const bool is_all = rounds_ ? rounds_->record.is_finished_with(num_records) : num_records == blocks.num_blocks();
      job_.directory.require_same_settings(*store_, job_.job(), settings_,
                                           is_all ? RunDirectory::Left::nothing : RunDirectory::Left::blocks);
    } catch (const base::InputError&) {
      job_.keep_earlier_end();
      throw;
    }
    job_.write_resolved_job();  // only now: it may name another model, and what lies here must stay exportable
    left_.emplace(blocks.num_blocks());
    require_blocks(*store_, blocks);
    for (const auto& record : store_->records()) {
      left_->mark_done(record.block_index);
    }
    if (rounds_) {
      left_->want_only({});
    }
    num_resumed_ = left_->num_done();
    show_in_status();
  }

  /// How many contexts are still to be scored.
  std::uint64_t show_in_status() {
    const auto& blocks = probe_->blocks();
    std::uint64_t contexts = 0;
    for (const auto& record : store_->records()) {
      contexts += record.num_contexts;
    }
    auto all_contexts = blocks.num_contexts();
    for (std::uint64_t block = 0; rounds_ && block < blocks.num_blocks(); ++block) {
      all_contexts -= left_->is_wanted(block) || left_->is_done(block) ? 0 : blocks.block(block).num_contexts;
    }
    job_.status->update([&](RunStatus& status) {
      const auto cells = cells_per_context(probe_->schema());
      const bool is_over = rounds_ && rounds_->record.is_finished_with(store_->records().size());  // then the last one
      status.stage =
          rounds_ ? "round " + std::to_string(rounds_->record.rounds.size() + (is_over ? 0 : 1)) : stage_.name();
      status.blocks_total = left_->size();
      status.blocks_done = left_->num_done();
      status.blocks_resumed = num_resumed_;
      status.blocks_reused = num_reused_;
      status.cells_total = all_contexts * cells;
      status.cells_done = contexts * cells;
      status.cost = stage_.cost_before();
      status.cost += store_->cost();
    });
    return all_contexts - contexts;
  }

  void require_space(std::uint64_t contexts_left) {
    const auto& folder = job_.directory.root();
    const auto bytes = [&](std::uint64_t num_contexts) {
      return static_cast<std::uint64_t>(probes::output_bytes(probe_->schema(), num_contexts, 0));
    };
    OutputSize size{bytes(contexts_left), bytes(probe_->blocks().num_contexts())};
    size.of_round = rounds_ ? 2 * size.journal : 0;  // raw numbers and scores, each about as large
    const auto warning = check_space(folder, size, free_space(folder));
    if (!warning.empty() && !std::exchange(told_of_space_, true)) {
      base::log(base::LogLevel::warning, warning);
    }
  }

  /// Without what an attempt says of itself.
  results::JournalHeader journal_header() const {
    results::JournalHeader header;
    header.job_hash = raw_job_hash(job_.job());
    header.settings = settings_.text;
    header.facts = "{}";
    return header;
  }

  void start_attempt() {
    auto header = journal_header();
    const auto hosts = base::mapped(job_.signals.ranks(), &parallel::RankPlace::host);
    header.facts = attempt_facts(hosts, job_.gpus, job_.job_text);
    header.attempt = results::make_attempt_name();
    job_.status->change([&](RunStatus& status) { status.attempt = header.attempt; });
    journal_ = std::make_unique<results::JournalWriter>(job_.directory.root(), header, stage_.name());
    if (!job_.request.reuse.empty() && !rounds_) {
      take_over(job_.request.reuse);
    }
  }

  /// Collective: whether blocks are to be scored; where the job decides, those of the next round.
  bool begin_round() {
    if (!rounds_) {
      return !complete_;
    }
    job_.stop_at_once_on_signal();
    if (job_.leads()) {
      store_ = results::JournalStore::open(job_.directory.root(), stage_.name());
    }
    const auto blocks = rounds_->wanted(job_.leads() ? &*store_ : nullptr);
    job_.on_rank_zero([&] {
      left_->want_only(blocks);
      require_space(show_in_status());
      if (!job_.request.reuse.empty() && !blocks.empty()) {
        take_over(job_.request.reuse);
      }
    });
    return job_.world.broadcast(!blocks.empty(), 0);
  }

  void take_over(const std::filesystem::path& old_directory) {
    require_reusable(old_directory);
    const auto old_store = results::JournalStore::open(old_directory, stage_.name());
    const auto& blocks = probe_->blocks();
    const auto fingerprint = job_.settings.fingerprint();
    std::uint64_t taken = 0;
    for (std::uint64_t index = 0; !old_store.records().empty() && index < blocks.num_blocks(); ++index) {
      const auto block = blocks.block(index);
      if (left_->is_done(index) || !left_->is_wanted(index)) {
        continue;
      }
      const auto key = probes::block_key(*probe_, block, fingerprint);
      const auto* record = old_store.find(key);
      if (record == nullptr || record->num_contexts != block.num_contexts) {
        continue;
      }
      std::vector<std::byte> payload;
      try {
        payload = old_store.read(*record);
      } catch (const results::DamagedRecord& error) {
        base::log(base::LogLevel::warning, std::string(error.what()) + ": it is scored again");
        continue;
      }
      journal_->stage({key, index, block.num_contexts, record->cost}, payload);
      if (journal_->staged_bytes() > (std::size_t{8} << 20)) {
        journal_->commit();
      }
      left_->mark_done(index);
      ++taken;
    }
    journal_->commit();
    base::log(base::LogLevel::info,
              "reused " + with_thousands(taken) + " of " + base::counted(blocks.num_blocks(), "block") +
                  (stage_.name().empty() ? "" : " of stage " + stage_.name()) + " from " + old_directory.string());
    num_reused_ += taken;
    if (num_reused_ == 0 && !old_store.attempts().empty()) {
      warn_of_no_reuse(old_directory, old_store);
    }
    journal_->write_index();  // then no payload is read again
    store_ = results::JournalStore::open(job_.directory.root(), stage_.name());
    show_in_status();
  }

  void warn_of_no_reuse(const std::filesystem::path& old_directory, const results::JournalStore& old_store) const {
    const RunDirectory old(old_directory);
    auto fields = old.differences(job_.job(), old_store.attempts().front().settings, settings_);
    std::string advice;
    if (fields.empty()) {
      fields = old.differences(job_.job());
      advice = "Blocks (" + std::to_string(job_.job().execution.contexts_per_block) +
               " contexts in a row, with all that is asked of them) stay the same where values of the axis '" +
               probe_->schema().outer_axes.front().name +
               "' are added at its end; other changes can reach all of them.";
    }
    base::log(base::LogLevel::warning,
              base::describe("no block of " + old_directory.string() + " fits this job", first_few(fields), advice));
  }

  /// Once: `num_scorers` ranks, or groups of ranks that hold one model, share the blocks.
  void warn_of_idle_ranks(std::uint64_t num_scorers) {
    if (left_->size() >= num_scorers || stage_.asks() != probes::Stage::Asks::model ||
        std::exchange(told_of_idle_ranks_, true)) {
      return;
    }
    const auto idle = num_scorers - left_->size();
    const auto ranks = idle * static_cast<std::uint64_t>(job_.job().execution.tensor_parallel);
    const auto contexts = static_cast<std::uint64_t>(job_.job().execution.contexts_per_block);
    base::log(base::LogLevel::warning,
              base::describe(base::counted(ranks, "rank") + " will have nothing to do",
                             "there are " + base::counted(left_->size(), "block") + " of at most " +
                                 base::counted(contexts, "context") + " to share",
                             "Smaller blocks are shared by more ranks: execution.contexts_per_block"));
  }

  void announce() {
    job_.status->update([](RunStatus& status) { status.enter("running"); });
    const auto status = job_.status->current();
    base::log(base::LogLevel::info, status.name +
                                        (rounds_                 ? ", " + status.stage
                                         : stage_.name().empty() ? ""
                                                                 : ", stage " + stage_.name()) +
                                        ": " + with_thousands(left_->size() - left_->num_done()) + " of " +
                                        base::counted(left_->size(), "block") + " to score (" +
                                        with_thousands(status.blocks_resumed) + " resumed, " +
                                        with_thousands(status.blocks_reused) + " reused), " +
                                        base::counted(status.cells_total, "cell") + ", " +
                                        base::counted(static_cast<std::uint64_t>(job_.world.size()), "rank") +
                                        ", into " + job_.directory.root().string());
  }

  base::ExitCode serve(const ScorerParts& scorer_parts) {
    Scorer scorer(scorer_parts);
    coordinated(job_.world, [&] { scorer.wait_until_ready(); });
    StopOrder order{base::ExitCode::done, ""};
    while (order.exit_code == base::ExitCode::done && begin_round()) {
      order = serve_blocks(scorer, scorer_parts.group.get());
      complete_ = !rounds_ && order.exit_code == base::ExitCode::done;
    }
    if (order.exit_code != base::ExitCode::done && order.exit_code != base::ExitCode::resume) {
      throw parallel::SharedError(order.cause, order.exit_code);
    }
    return order.exit_code;
  }

  StopOrder serve_blocks(Scorer& scorer, parallel::TensorGroup* group) {
    parallel::Messenger messenger(job_.world);
    const auto leaders = job_.world.gather_everywhere(group == nullptr ? job_.world.rank() : group->leader());
    if (job_.leads()) {
      announce();
      warn_of_idle_ranks(std::set(leaders.begin(), leaders.end()).size());
    }
    job_.remember_signals();
    const auto order = job_.leads() ? lead(messenger, scorer, leaders)
                                    : work_for_rank_zero(messenger, scorer, probe_->blocks(), job_.signals);
    if (group != nullptr && order.exit_code != base::ExitCode::done && !scorer.idle()) {
      group->fail(order.cause);  // others of the group may wait in the middle of a block
    }
    return order;
  }

  StopOrder lead(parallel::Messenger& messenger, Scorer& scorer, const std::vector<int>& leaders) {
    const auto end = coordinate({messenger, scorer, *probe_, *journal_, *job_.lease, *job_.status, job_.signals,
                                 leaders, cells_per_context(probe_->schema()), job_.request.time_limit},
                                *left_);
    base::inject_fault("scored");
    journal_->write_index();
    if (end.order.exit_code != base::ExitCode::done) {
      job_.write_end(end.order.state(), end.order.cause);
    }
    if (!end.unreached.empty()) {
      base::log(base::LogLevel::error, end.unreached + " does not answer: all ranks are aborted");
    }
    if (end.order.exit_code == base::ExitCode::resume) {
      base::log(base::LogLevel::warning, std::string("stopped: ") + how_to_go_on);
    }
    if (!end.unreached.empty()) {
      parallel::abort_all_ranks(static_cast<int>(end.order.exit_code));
    }
    return end.order;
  }

  JobParts& job_;
  const probes::Stage& stage_;
  std::shared_ptr<const probes::Probe> probe_;
  RunSettings settings_;
  bool complete_ = false;
  // rank zero only
  std::optional<results::JournalStore> store_;
  std::optional<BlocksLeft> left_;
  std::uint64_t num_resumed_ = 0;
  std::uint64_t num_reused_ = 0;  ///< of all rounds
  bool told_of_space_ = false;    // once, of all rounds
  bool told_of_idle_ranks_ = false;
  std::unique_ptr<results::JournalWriter> journal_;
  std::optional<DecidedRounds> rounds_;  ///< where the job decides; on all ranks
};

probes::StageRequest request_of(JobParts& job) {
  return {.job = job.job(),
          .world = job.world,
          .directory = job.directory.root(),
          .files = job.scoring->files,
          .tokenizer = job.scoring->tokenizer ? &*job.scoring->tokenizer : nullptr,
          .show_step =
              [&job](const std::string& step) {
                job.status->update([&](RunStatus& status) {
                  if (!step.empty()) {
                    status.stage = step;
                    status.enter("running");
                  }
                });
              },
          .check_lease = [&job] { job.lease->check(); },
          .keep_earlier_end = [&job] { job.keep_earlier_end(); }};
}

/// With what it borrows from: a thread that is given up outlives the job.
std::shared_ptr<const probes::Probe> with_owners(const std::shared_ptr<const probes::Probe>& probe, const JobParts& job,
                                                 const std::shared_ptr<probes::Stage>& stage) {
  struct Owners {
    std::shared_ptr<ScoringParts> parts;
    std::shared_ptr<probes::Stage> stage;
    std::shared_ptr<const probes::Probe> probe;  ///< goes first
  };
  return {std::make_shared<Owners>(Owners{job.scoring, stage, probe}), probe.get()};
}

/// Whether the file says the same of itself as a new one would.
bool has_attributes(const std::filesystem::path& file, const probes::StageFile& target) {
  const results::ResultFile result(file);
  return std::ranges::all_of(target.attributes,
                             [&](const auto& attribute) { return result.text(attribute.first) == attribute.second; });
}

class JobStages {
 public:
  explicit JobStages(JobParts& job) : job_(job), request_(request_of(job)) {
    for (auto& stage : probes::kind_of(job.job()).stages(job.job())) {
      steps_.push_back({std::move(stage), std::nullopt, std::nullopt});
    }
  }

  base::ExitCode run() {
    for (std::size_t index = 0; index < steps_.size(); ++index) {
      open(index);
      auto& step = steps_[index];
      if (index + 1 < steps_.size()) {
        recall(step);
        if (step.outcome) {
          continue;
        }
      } else if (!step.run->complete()) {
        // What the stage reads must be there.
        const auto is_gone = [&](const Step& before) { return !before.stage->is_intact(request_); };
        if (const auto end = score_again(index, is_gone); end != base::ExitCode::done) {
          return end;
        }
      }
      if (const auto end = score_and_finish(index); end != base::ExitCode::done) {
        return end;
      }
    }
    // A journal may be gone whose file is wanted.
    const auto is_missing = [&](const Step& step) { return is_wanted(step) && !step.run->complete(); };
    if (const auto end = score_again(steps_.size() - 1, is_missing); end != base::ExitCode::done) {
      return end;
    }
    job_.stop_at_once_on_signal();
    if (!job_.let_others_leave()) {
      return base::ExitCode::done;
    }
    job_.on_rank_zero([&] {
      const auto loan = job_.lend_processors();
      export_all();
    });
    job_.remember_signals();
    return base::ExitCode::done;
  }

 private:
  struct Step {
    std::shared_ptr<probes::Stage> stage;  ///< outlives a scoring thread that is given up
    std::optional<StageRun> run;
    std::optional<probes::Stage::Bytes> outcome;  ///< of a stage with a successor, once it is known
  };

  void open(std::size_t index) {
    auto& step = steps_[index];
    const auto probe =
        step.stage->open(request_, index == 0 ? std::span<const std::byte>() : *steps_[index - 1].outcome);
    auto settings = index == 0 ? job_.settings : steps_[index - 1].run->settings();
    for (const auto& [key, value] : step.stage->settings()) {
      settings = with_field(settings, key, value);
    }
    if (decides(job_.job())) {
      settings = with_field(settings, decisions_field, decision_settings(job_.job()));
    }
    step.run.emplace(job_, *step.stage, with_owners(probe, job_, step.stage), settings);
    step.run->open();
    job_.on_rank_zero([&] { step.stage->journals_agree(request_); });
  }

  /// What an earlier start came to.
  void recall(Step& step) {
    std::optional<probes::Stage::Bytes> found;
    job_.on_rank_zero([&] { found = step.stage->recall(request_, step.run->settings().text); });
    if (ask(found.has_value())) {
      step.outcome = job_.world.broadcast(found.value_or(probes::Stage::Bytes()), 0);
    }
  }

  base::ExitCode score_and_finish(std::size_t index) {
    auto& step = steps_[index];
    if (!step.run->complete()) {
      if (const auto prepared = step.stage->prepare(request_)) {
        step.run->use(with_owners(prepared, job_, step.stage));
      }
      scored_ = true;
      if (const auto end = step.run->score(); end != base::ExitCode::done) {
        return end;
      }
      job_.stop_at_once_on_signal();
    }
    if (index + 1 == steps_.size()) {
      return base::ExitCode::done;
    }
    probes::Stage::Bytes bytes;
    job_.on_rank_zero(
        [&] {
          job_.status->update([](RunStatus& status) { status.enter("exporting"); });
          read_journal_of(step, [&](const results::JournalStore& journal) {
            bytes = step.stage->finish(request_, {journal, step.run->settings().text});
          });
        },
        "finish_stage");
    step.outcome = job_.world.broadcast(std::move(bytes), 0);
    return base::ExitCode::done;
  }

  /// Rank zero: where `use` finds a block damaged, the run ends so that the next start scores it again.
  void read_journal_of(Step& step, const std::function<void(const results::JournalStore&)>& use) {
    try {
      use(step.run->reread());
    } catch (const results::DamagedRecord& error) {
      results::remove_indexes(job_.directory.root(), step.stage->name());
      job_.write_end("stopped", error.what());
      throw base::Error(base::describe(error.what(), "", "run the same command again: the block is scored again"),
                        base::ExitCode::resume);
    }
  }

  /// Scores stages again, of the first `count` those of which rank zero says so.
  base::ExitCode score_again(std::size_t count, const std::function<bool(const Step&)>& is_needed) {
    for (std::size_t index = 0; index < count; ++index) {
      if (ask(job_.leads() && is_needed(steps_[index]))) {
        if (const auto end = score_and_finish(index); end != base::ExitCode::done) {
          return end;
        }
      }
    }
    return base::ExitCode::done;
  }

  /// Rank zero: whether the file of a stage is missing, damaged or another than the job asks for.
  bool is_wanted(const Step& step) const {
    const auto target = step.stage->file(job_.job());
    if (!target) {
      return false;
    }
    const auto file = job_.directory.root() / target->name;
    return !job_.exported || !is_whole(file) || !has_attributes(file, *target);
  }

  void export_all() {
    const auto result = job_.directory.export_file(job_.job());
    std::vector<Step*> wanted;
    for (auto& step : steps_) {
      const bool is_result = &step == &steps_.back();
      if (is_wanted(step) || (is_result && scored_)) {
        wanted.push_back(&step);
      }
    }
    if (wanted.empty()) {
      base::log(base::LogLevel::info, job_.job().name + " is complete: nothing to do (" + result.string() + ")");
    } else {
      job_.forget_earlier_end();
      job_.status->update([](RunStatus& status) { status.enter("exporting"); });
    }
    for (auto* step : wanted) {
      read_journal_of(*step, [&](const results::JournalStore& journal) { export_step(*step, journal); });
    }
    job_.write_end("done", "");
    log_next_command(job_.directory.root());
    for (auto& step : steps_) {
      step.stage->clean_up(request_);
    }
  }

  void export_step(Step& step, const results::JournalStore& journal) {
    if (const auto audit = audit_chat(job_.job(), step.run->probe(), journal); !audit.line.empty()) {
      base::log(audit.level, audit.line);
    }
    const auto summary =
        export_stage(job_.directory, job_.job(), *step.stage, step.run->probe(), journal, &*job_.lease,
                     [&](std::uint64_t num_blocks) {
                       job_.status->update([&](RunStatus& status) { status.blocks_exported = num_blocks; });
                     });
    step.stage->report();
    const bool is_result = &step == &steps_.back();
    log_summary(step.stage->name(), summary,
                steps_.size() > 1 && is_result ? step.stage->cost_before() : journal.cost());
    base::fail_if(is_result && !summary.none.empty(), "no cell of '" + job_.job().name + "' has a number", summary.none,
                  "Ask an example of the log with 'stereosweep query': its answer says more.");
    if (is_result) {
      job_.write_end("done", "");
      std::cout << "digest " << base::to_hex(summary.digest) << "  " << job_.directory.export_file(job_.job()).string()
                << std::endl;
    }
  }

  /// Collective: what rank zero answers.
  bool ask(bool own) const { return job_.world.broadcast(own, 0); }

  JobParts& job_;
  probes::StageRequest request_;
  std::vector<Step> steps_;
  bool scored_ = false;  ///< this start has added blocks to a journal
};

/// The axes come from the job and the tokenizer: both must be those of the journal. Weights are not read.
void require_same_origin(const RunDirectory& directory, const results::JournalStore& store, const sweep::Job& job,
                         const base::FileSet& files) {
  base::refuse_if(store.attempts().empty(), "'" + directory.root().string() + "' holds no journal that can be read",
                  store.damage().empty() ? "nothing was scored there" : base::join(store.damage(), "; "));
  const auto& attempt = store.attempts().front();
  base::refuse_if(attempt.job_hash != raw_job_hash(job), "job.resolved.yaml is not the job of the journal",
                  "it was changed after " + attempt.attempt);
  const auto now = make_settings(job, hash_files(job, files, {}), "");
  auto differences = settings_differences(attempt.settings, now.text);
  std::erase_if(differences, [](const std::string& line) { return !line.starts_with("tokenizer/"); });
  base::refuse_if(!differences.empty(), "the tokenizer in '" + job.model.path + "' is not the run's",
                  base::join(differences, "; "));
}

}  // namespace

void require_tensor_ranks(const parallel::Communicator& world, int ranks_per_group) {
  make_tensor_group(world, ranks_per_group);
}

base::ExitCode run_stages(JobParts& job) { return JobStages(job).run(); }

void refuse_unread(const probes::Stage& stage, const std::filesystem::path& directory) {
  base::refuse("'" + directory.string() + "' has blocks that cannot be read",
               "a file beside the journal of its " + stage.name() + " is missing or damaged",
               "'stereosweep run " + directory.string() + "' makes it anew");
}

std::vector<std::string> export_stages(const std::filesystem::path& run_directory) {
  const RunDirectory directory(run_directory);
  const auto job = directory.job();
  base::FileSet files("");
  std::optional<tokenizer::Tokenizer> tokenizer;
  if (job.reads_model()) {
    files = base::read_checkpoint_files(base::checkpoint_place(job.model.location(), job.model.adapter),
                                        base::CheckpointPart::small_files);
    tokenizer.emplace(tokenizer::Tokenizer::from_files(files));
  }
  const parallel::Communicator nobody;
  const probes::StageRequest request{.job = job,
                                     .world = nobody,
                                     .directory = directory.root(),
                                     .files = files,
                                     .tokenizer = tokenizer ? &*tokenizer : nullptr};
  const auto stages = probes::kind_of(job).stages(job);
  std::vector<std::string> lines;
  const probes::Stage* unread = nullptr;
  for (const auto& stage : stages) {
    const auto store = results::JournalStore::open(directory.root(), stage->name());
    if (stages.size() == 1 || !store.attempts().empty()) {
      require_same_origin(directory, store, job, files);
    }
    for (const auto& line : store.damage()) {
      base::log(base::LogLevel::warning, line);
    }
    if (store.attempts().empty()) {
      continue;
    }
    const auto probe = stage->reopen(request);
    const auto target = stage->file_on_request(job);
    if (!probe || !target) {
      unread = probe ? unread : stage.get();
      continue;
    }
    require_blocks(store, probe->blocks());
    const auto summary = export_stage(directory, job, *stage, *probe, store, nullptr, [](std::uint64_t) {});
    const auto total = summary.num_blocks_wanted;
    const auto scored = store.records().size();
    lines.push_back((directory.root() / target->name).string() + ": " + base::with_thousands(scored) + " of " +
                    base::counted(total, "block") + " scored" + (scored == total ? "" : ", NOT complete") +
                    "\ndigest " + base::to_hex(summary.digest));
  }
  if (unread != nullptr) {
    for (const auto& line : lines) {
      base::log(base::LogLevel::info, line);
    }
    refuse_unread(*unread, directory.root());
  }
  base::refuse_if(lines.empty(), "'" + directory.root().string() + "' holds nothing to export",
                  "no block is in a journal yet", "continue it with 'stereosweep run'");
  return lines;
}

}  // namespace stereosweep::run
