#include "run/OneJob.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "base/Error.hpp"
#include "base/File.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"
#include "config/JobDump.hpp"
#include "engine/EngineFactory.hpp"
#include "parallel/Coordinated.hpp"
#include "parallel/MpiSession.hpp"
#include "parallel/NodeFiles.hpp"
#include "results/Seal.hpp"
#include "run/Environment.hpp"
#include "run/MemoryCheck.hpp"
#include "run/Worker.hpp"

namespace stereosweep::run {
namespace {

using base::with_thousands;
using parallel::coordinated;

bool is_fake(const domain::Job& job) { return job.execution.engine == domain::EngineKind::fake; }

engine::EngineSettings engine_settings(const domain::Job& job) {
  return {.kind = job.execution.engine,
          .dtype = job.model.dtype,
          .device = job.execution.device,
          .threads = job.execution.threads_per_rank,
          .batch_tokens = job.execution.batch_tokens,
          .seed = job.seed,
          .tensor_group = nullptr};
}

std::uint64_t contexts_in(const results::JournalStore& store) {
  std::uint64_t sum = 0;
  for (const auto& record : store.records()) {
    sum += record.num_contexts;
  }
  return sum;
}

std::optional<ReadStatus> read_status_or_nothing(const std::filesystem::path& root) {
  try {
    return read_status(root);
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

/// Whether the file of an earlier attempt is what that attempt wrote, or what the user made of it.
bool is_intact(const std::filesystem::path& file) {
  try {
    results::check_seal(file);
    return true;
  } catch (const base::InputError& error) {
    base::log(base::LogLevel::warning, std::string(error.what()) + ": writing it anew from the journal");
    return false;
  }
}

}  // namespace

OneJob::OneJob(const RunRequest& request, domain::Job job, std::string job_text, std::filesystem::path root,
               const parallel::Communicator& world, SignalWatcher& signals)
    : request_(request),
      job_text_(std::move(job_text)),
      directory_(std::move(root)),
      world_(world),
      signals_(signals),
      parts_(std::make_shared<ScoringParts>()) {
  parts_->job = std::move(job);
}

base::ExitCode OneJob::run() {
  try {
    prepare();
    const auto end = complete_ ? base::ExitCode::done : score();
    if (end == base::ExitCode::done) {
      finish();
    }
    return end;
  } catch (const std::exception& error) {
    write_end("failed", error.what());
    throw;
  }
}

void OneJob::write_end(const std::string& state, const std::string& cause) {
  if (status_ && !true_end_.empty()) {
    status_->put_back(true_end_);
  } else if (status_) {
    status_->update([&](RunStatus& status) {
      status.state = state;
      status.cause = cause;
      status.seconds_left = 0;
    });
  }
}

/// While nothing is in flight a signal may end the process where it stands.
void OneJob::stop_at_once_on_signal() {
  signals_.set_action([this](int signal) {
    write_end("stopped", "signal " + signal_name(signal) + " on rank " + std::to_string(world_.rank()));
    ::_exit(static_cast<int>(base::ExitCode::resume));
  });
}

void OneJob::prepare() {
  hosts_ = world_.gather_everywhere(parallel::host_name());
  coordinated(world_, [&] {
    if (leads()) {
      open_directory();
    }
  });
  stop_at_once_on_signal();
  ranks_.emplace(world_, parts_->job.execution.tensor_parallel);
  read_model();
  agree_on_settings();
  const auto complete = coordinated(world_, [&] {
    if (leads()) {
      open_journals();
    }
    return std::string(leads() && left_->num_done() == left_->size() ? "complete" : "");
  });
  complete_ = !world_.broadcast(complete, 0).empty();
}

void OneJob::open_directory() {
  directory_.create();
  const bool requeued = text_from_environment("SLURM_RESTART_COUNT") > "0";
  const bool overwrite = request_.existing == RunRequest::Existing::overwrite && !requeued;
  if (!overwrite) {
    directory_.require_same_job(parts_->job);
  }
  lease_.emplace(directory_.root());
  if (overwrite) {
    directory_.remove_run_files();
  } else {
    directory_.require_same_job(parts_->job);  // again: whoever held the lock may have started another job
  }
  base::set_log_file(directory_.log().string());
  if (requeued && request_.existing == RunRequest::Existing::overwrite) {
    base::log(base::LogLevel::warning, "--overwrite is ignored: Slurm has started this job again, so it is continued");
  }
  base::remove_stale_partials(directory_.root());
  const auto earlier = read_status_or_nothing(directory_.root());
  // an .h5 alone may be a partial one (`stereosweep export` of a run)
  exported_ = earlier && earlier->status.state == "done";
  std::error_code ignored;
  if (earlier) {
    old_status_ = base::read_file(directory_.status());
  }
  if (exported_) {
    true_end_ = old_status_;
  }
  RunStatus status;
  status.name = parts_->job.name;
  status.num_ranks = world_.size();
  status.started = utc_now();
  status_ = std::make_unique<StatusFile>(directory_.root(), status);
  if (!std::filesystem::exists(directory_.resolved_job(), ignored)) {
    write_resolved_job();
  }
}

void OneJob::write_resolved_job() {
  base::write_file_atomically(directory_.resolved_job(), config::canonical_dump(parts_->job));
}

/// From the small files alone: a model that cannot fit is refused before its weights are read.
void OneJob::check_memory() {
  const auto& path = parts_->job.model.path;
  const auto small_files = parallel::read_checkpoint_once(world_, path, base::CheckpointPart::small_files);
  NodeMemory memory;
  memory.ranks = world_.node().size();
  coordinated(world_, [&] {
    for (const auto& [name, size] : base::list_checkpoint_files(path)) {
      memory.stored += base::is_weight_file(name) ? size : 0;
    }
    memory.host = host_memory();
    memory.gpu = parts_->gpu.bytes;
    require_memory(parts_->job, small_files, memory);
  });
}

void OneJob::read_model() {
  if (!is_fake(parts_->job)) {
    if (parts_->job.execution.device != domain::Device::cpu) {
      parts_->gpu = parallel::bind_gpu(world_);
    }
    check_memory();
  }
  const auto part = is_fake(parts_->job) ? base::CheckpointPart::small_files : base::CheckpointPart::all_files;
  parts_->files = parallel::read_checkpoint_once(world_, parts_->job.model.path, part);
  coordinated(world_, [&] {
    parts_->tokenizer.emplace(tokenizer::Tokenizer::from_files(parts_->files));
    parts_->probe = probe::make_probe(parts_->job, *parts_->tokenizer);
  });
  gpus_ = world_.gather_everywhere(parts_->gpu.name);
}

void OneJob::agree_on_settings() {
  const auto own =
      parts_->gpu.name.empty() ? engine::device_description(engine_settings(parts_->job)) : parts_->gpu.name;
  auto devices = world_.gather_everywhere(own);
  std::ranges::sort(devices);
  const auto repeats = std::ranges::unique(devices);
  devices.erase(repeats.begin(), repeats.end());
  const auto device = base::join(devices, " + ");
  const auto node = world_.node();
  coordinated(world_, [&] {
    if (devices.size() > 1 && text_from_environment("STEREOSWEEP_MIXED_DEVICES") != "1") {
      throw base::InputError(base::describe("the ranks run on different devices: " + device,
                                            "the last bits of a number would depend on the rank that scored it",
                                            "STEREOSWEEP_MIXED_DEVICES=1 allows it, and the result says so"));
    }
    if (node.rank() == 0) {
      settings_ = make_settings(parts_->job, parts_->files, device);
    }
  });
  const auto agreed = world_.broadcast(settings_.text, 0);
  coordinated(world_, [&] {
    if (node.rank() == 0 && settings_.text != agreed) {
      throw base::InputError(base::describe("this node sees another checkpoint than rank 0",
                                            base::join(settings_differences(agreed, settings_.text), "; ")));
    }
  });
  settings_.text = agreed;
}

void OneJob::open_journals() {
  store_ = results::JournalStore::open(directory_.root());
  for (const auto& line : store_->damage()) {
    base::log(base::LogLevel::warning, line);
  }
  try {
    directory_.require_same_settings(*store_, raw_job_hash(parts_->job), settings_);
  } catch (const base::InputError&) {
    true_end_ = old_status_;
    throw;
  }
  true_end_.clear();
  write_resolved_job();  // only now: it may name another model, and what lies here must stay exportable
  const auto& blocks = parts_->probe->blocks();
  left_.emplace(blocks.num_blocks());
  for (const auto& record : store_->records()) {
    if (record.block_index >= blocks.num_blocks() ||
        record.num_contexts != blocks.block(record.block_index).num_contexts) {
      throw base::Error(base::describe("the journal holds a block that this job does not have",
                                       "block " + std::to_string(record.block_index), "start anew with --overwrite"));
    }
    left_->mark_done(record.block_index);
  }
  status_->update([&](RunStatus& status) {
    const auto cells = cells_per_context(parts_->probe->schema());
    status.blocks_total = blocks.num_blocks();
    status.blocks_done = status.blocks_resumed = left_->num_done();
    status.cells_total = blocks.product().num_contexts() * cells;
    status.cells_done = contexts_in(*store_) * cells;
    status.cost = store_->cost();
  });
  if (left_->num_done() < left_->size()) {
    start_attempt();
  }
}

void OneJob::start_attempt() {
  results::JournalHeader header;
  header.job_hash = raw_job_hash(parts_->job);
  header.settings = settings_.text;
  header.facts = attempt_facts(hosts_, gpus_, job_text_);
  header.attempt = results::make_attempt_name();
  status_->change([&](RunStatus& status) { status.attempt = header.attempt; });
  journal_ = std::make_unique<results::JournalWriter>(directory_.root(), header);
  if (!request_.reuse.empty()) {
    take_over(request_.reuse);
  }
}

void OneJob::take_over(const std::filesystem::path& old_directory) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(old_directory / "journal", ignored)) {
    throw base::InputError(base::describe("nothing to reuse in " + old_directory.string(), "it holds no journal"));
  }
  const auto old_store = results::JournalStore::open(old_directory);
  const auto& blocks = parts_->probe->blocks();
  const auto fingerprint = settings_.fingerprint();
  std::uint64_t taken = 0;
  std::uint64_t contexts = 0;
  query::EngineCounts cost;
  for (std::uint64_t index = 0; !old_store.records().empty() && index < blocks.num_blocks(); ++index) {
    const auto block = blocks.block(index);
    if (left_->is_done(index)) {
      continue;
    }
    const auto key = probe::block_key(*parts_->probe, block, fingerprint);
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
  base::log(base::LogLevel::info, "reused " + with_thousands(taken) + " of " + with_thousands(blocks.num_blocks()) +
                                      " blocks from " + old_directory.string());
  status_->update([&](RunStatus& status) {
    status.blocks_reused = taken;
    status.blocks_done += taken;
    status.cells_done += contexts * cells_per_context(parts_->probe->schema());
    status.cost += cost;
  });
}

base::ExitCode OneJob::score() {
  auto settings = engine_settings(parts_->job);
  settings.tensor_group = ranks_->tensors();
  const ScorerParts scorer_parts{std::shared_ptr<const probe::Probe>(parts_, parts_->probe.get()),
                                 settings_.fingerprint(),
                                 [parts = parts_, settings] {
                                   parallel::use_gpu(parts->gpu);
                                   return engine::make_engine(settings, parts->files, *parts->tokenizer);
                                 },
                                 ranks_->tensors(), std::chrono::seconds(parts_->job.execution.block_limit_s)};
  return ranks_->leads() ? lead(scorer_parts) : follow(scorer_parts);
}

base::ExitCode OneJob::follow(const ScorerParts& scorer_parts) {
  Follower follower(scorer_parts, parts_->probe->blocks());
  coordinated(world_, [&] { follower.wait_until_ready(); });
  signals_.set_action({});  // the leader gets the same signal, and what it decides holds for the group
  const auto order = ranks_->wait_for_dismissal();
  if (order.exit_code != base::ExitCode::done && order.exit_code != base::ExitCode::resume) {
    throw parallel::SharedError(order.cause, order.exit_code);
  }
  return order.exit_code;
}

base::ExitCode OneJob::lead(const ScorerParts& scorer_parts) {
  Scorer scorer(scorer_parts);
  coordinated(world_, [&] { scorer.wait_until_ready(); });
  const auto& leaders = ranks_->leaders();
  parallel::Messenger messenger(leaders);
  const auto hosts = leaders.gather_everywhere(parallel::host_name());
  if (leads()) {
    status_->update([](RunStatus& status) { status.state = "running"; });
    const auto status = status_->current();
    base::log(base::LogLevel::info, status.name + ": " + with_thousands(left_->size() - left_->num_done()) + " of " +
                                        with_thousands(left_->size()) + " blocks to score (" +
                                        with_thousands(status.blocks_resumed) + " resumed, " +
                                        with_thousands(status.blocks_reused) + " reused), " +
                                        base::counted(status.cells_total, "cell") + ", " +
                                        base::counted(static_cast<std::uint64_t>(world_.size()), "rank") + ", into " +
                                        directory_.root().string());
  }
  signals_.set_action({});
  const auto work = [&] { return scorer.idle() ? TensorRanks::Work::ended : TensorRanks::Work::given_up; };
  if (!leads()) {
    const auto order = work_for_rank_zero(messenger, scorer, parts_->probe->blocks(), signals_);
    ranks_->dismiss(order, work());
    if (order.exit_code != base::ExitCode::done && order.exit_code != base::ExitCode::resume) {
      throw parallel::SharedError(order.cause, order.exit_code);
    }
    return order.exit_code;
  }
  const auto end = coordinate({messenger, scorer, *parts_->probe, *journal_, *lease_, *status_, signals_, hosts,
                               cells_per_context(parts_->probe->schema())},
                              *left_);
  const bool failed = end.order.exit_code != base::ExitCode::done && end.order.exit_code != base::ExitCode::resume;
  if (end.order.exit_code != base::ExitCode::done) {
    write_end(failed ? "failed" : "stopped", end.order.cause);
  }
  if (!end.unreached.empty()) {
    base::log(base::LogLevel::error,
              "rank " + std::to_string(end.unreached.front()) + " does not answer any more: all ranks are aborted");
    parallel::abort_all_ranks(static_cast<int>(end.order.exit_code));
  }
  ranks_->dismiss(end.order, work());
  if (failed) {
    throw parallel::SharedError(end.order.cause, end.order.exit_code);
  }
  return end.order.exit_code;
}

void OneJob::finish() {
  stop_at_once_on_signal();
  coordinated(world_, [&] {
    if (leads()) {
      export_and_report();
    }
  });
  signals_.set_action({});
}

void OneJob::export_and_report() {
  const auto file = directory_.export_file(parts_->job);
  std::error_code ignored;
  if (complete_ && exported_ && std::filesystem::is_regular_file(file, ignored) && is_intact(file)) {
    write_end("done", "");
    base::log(base::LogLevel::info, parts_->job.name + " is complete: nothing to do (" + file.string() + ")");
    return;
  }
  status_->update([](RunStatus& status) { status.state = "exporting"; });
  journal_.reset();
  store_ = results::JournalStore::open(directory_.root());
  const auto summary = export_directory(directory_, parts_->job, *parts_->probe, *store_);
  for (const auto& row : summary.rows) {
    base::log(base::LogLevel::info, row.cube + " " + row.status + ": " + base::counted(row.count, "cell"));
  }
  base::log(base::LogLevel::info, "work: " + work_text(store_->cost()));
  for (const auto& example : summary.examples) {
    base::log(base::LogLevel::info, "  e.g. " + example);
  }
  write_end("done", "");
  std::cout << "digest " << base::to_hex(summary.digest) << "  " << file.string() << std::endl;
}

}  // namespace stereosweep::run
