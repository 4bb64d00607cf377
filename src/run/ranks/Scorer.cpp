#include "run/ranks/Scorer.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include "base/process/FaultInjection.hpp"
#include "base/process/Profile.hpp"

namespace stereosweep::run {
namespace {

// A block may take longer to plan than a GPU takes to run it.
constexpr int planning_threads = 2;
/// Plans that wait take memory, and are lost where a block is taken back.
constexpr std::ptrdiff_t most_planned = 3;

std::atomic<bool> abandoned{false};

std::string prompt_of(const query::Query& query) {
  return std::visit(
      [](const auto& asked) {
        if constexpr (requires { asked.prompt; }) {
          return asked.prompt;
        } else {
          return asked.text;
        }
      },
      query);
}

}  // namespace

std::string InWork::overdue(std::chrono::seconds limit) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const auto unseen = now - last_look_ > std::chrono::seconds(1) ? std::optional(last_look_) : std::nullopt;
  last_look_ = now;
  for (auto* work : works_) {
    if (!work->start_) {
      continue;
    }
    if (unseen) {  // the whole process was stopped or starved, not this block
      *work->start_ += now - std::max(*unseen, *work->start_);
    }
    const auto time = work->spent_ + (now - *work->start_);
    if (limit.count() > 0 && time > limit) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
      return base::describe(
          "block " + std::to_string(work->block_.index) + " has been in work for " + std::to_string(seconds) + " s",
          "execution.block_limit_s: " + std::to_string(limit.count()),
          work->prompt_.empty() ? "it has no prompt yet" : "its first prompt: '" + work->prompt_ + "'");
    }
  }
  return "";
}

BlockWork::BlockWork(const probes::Probe& probe, const query::Engine* engine, const sweep::Block& block,
                     InWork& in_work)
    : probe_(probe), engine_(engine), block_(block), in_work_(in_work) {
  scored_.id = {{}, block.index, block.num_contexts, {}};
}

BlockWork::~BlockWork() {
  const std::lock_guard lock(in_work_.mutex_);
  std::erase(in_work_.works_, this);
}

void BlockWork::timed(auto&& step) {
  if (!failure().empty()) {
    return;
  }
  const auto start = Clock::now();
  const auto with_clock = [&](auto&& change) {
    const std::lock_guard lock(in_work_.mutex_);
    change();
  };
  with_clock([&] { start_ = start; });
  try {
    step();
  } catch (const base::Error& error) {
    fail(error.what(), error.exit_code());
  } catch (const std::exception& error) {
    fail("block " + std::to_string(block_.index) + ": " + base::message_of(error), base::ExitCode::error);
  }
  const auto end = Clock::now();
  scored_.seconds += std::chrono::duration<double>(end - start).count();
  with_clock([&] { spent_ += end - *std::exchange(start_, std::nullopt); });
}

void BlockWork::plan_round() { call_ = session_ ? session_->plan(round_->queries) : engine_->plan(round_->queries); }

void BlockWork::read_round() {
  transcript_.answers.push_back(call_->read());
  scored_.id.cost += call_->cost();
  call_.reset();
  transcript_.rounds.push_back(*std::exchange(round_, std::nullopt));
}

void BlockWork::fail(const std::string& cause, base::ExitCode code) {
  scored_.failure = cause;
  scored_.failure_code = code;
}

void BlockWork::plan() {
  {
    const std::lock_guard lock(in_work_.mutex_);
    in_work_.works_.push_back(this);
  }
  timed([&] {
    if (engine_ == nullptr) {
      return;
    }
    const base::profile::Span span("prompts and answers");
    round_ = probe_.first(block_);
    if (!round_->queries.empty()) {
      const std::lock_guard lock(in_work_.mutex_);
      prompt_ = prompt_of(round_->queries.front());
    }
    session_ = probe_.asks_again() ? engine_->begin_session() : nullptr;
    plan_round();
  });
}

void BlockWork::run() {
  timed([&] {
    base::inject_fault("block_start");
    base::inject_fault("block_prompts");
    while (call_) {
      call_->run();
      if (!probe_.asks_again()) {
        return;
      }
      const base::profile::Span span("prompts and answers");
      read_round();
      round_ = probe_.next(block_, transcript_);
      if (round_) {
        plan_round();
      }
    }
  });
  session_.reset();  // its memory is the next block's
}

Scored BlockWork::finish(const base::Digest& fingerprint) {
  timed([&] {
    const base::profile::Span span("prompts and answers");
    if (call_) {
      read_round();
    }
    base::ByteWriter out;
    probe_.fold(block_, transcript_).write(out);
    scored_.payload = out.take();
    const base::profile::Span digests("digests");
    scored_.id.key = probes::block_key(probe_, block_, fingerprint);
    base::inject_fault("block_done");
  });
  return std::move(scored_);
}

Scored score_block(const probes::Probe& probe, const query::Engine& engine, const sweep::Block& block) {
  InWork in_work;
  BlockWork work(probe, &engine, block, in_work);
  work.plan();
  work.run();
  return work.finish(base::Digest());
}

struct Scorer::State {
  // A block that does not run yet.
  struct Waiting {
    std::shared_ptr<BlockWork> work;
    bool is_begun = false;  ///< a thread plans it, or has
    bool is_planned = false;
  };

  ScorerParts parts;
  std::unique_ptr<query::Engine> engine;  ///< of the thread that runs; null: the blocks need no model
  InWork in_work;
  mutable std::mutex mutex;
  std::condition_variable to_threads;
  std::condition_variable to_main;
  std::deque<Waiting> waiting;
  std::shared_ptr<BlockWork> run_through;  ///< waits to be finished
  std::deque<Scored> ready;
  std::exception_ptr start_failure;
  int in_flight = 0;  ///< blocks that run or ran and are not ready
  bool started = false;
  std::atomic<bool> failed_first = false;  ///< of the ranks of the group
  bool all_run = false;
  bool stopped = false;
  bool is_overdue = false;  ///< a block was, and its failure was polled
  bool ending = false;
  bool ended = false;

  bool follows() const { return parts.group && parts.group->rank() > 0; }

  /// Waits for a block that nobody plans; null: there will be none.
  std::shared_ptr<BlockWork> next_to_plan() {
    std::unique_lock lock(mutex);
    auto next = waiting.end();
    to_threads.wait(lock, [&] {
      next = std::ranges::find(waiting, false, &Waiting::is_begun);
      return ending || (next != waiting.end() && next - waiting.begin() < most_planned);
    });
    if (ending) {
      return nullptr;
    }
    next->is_begun = true;
    return next->work;
  }

  void plan_all() {
    base::profile::count_apart();
    while (const auto work = next_to_plan()) {
      work->plan();
      const std::lock_guard lock(mutex);
      if (const auto place = std::ranges::find(waiting, work, &Waiting::work); place != waiting.end()) {
        place->is_planned = true;
      }
      to_threads.notify_all();
    }
  }

  /// Waits for a planned block, and until only one block is being finished; nothing: there will be none.
  std::shared_ptr<BlockWork> next_to_run() {
    const base::profile::Span span("waiting for blocks");
    std::unique_lock lock(mutex);
    to_threads.wait(lock, [&] { return ending || (!waiting.empty() && waiting.front().is_planned && !run_through); });
    if (ending) {
      return nullptr;
    }
    const auto work = waiting.front().work;
    waiting.pop_front();
    to_threads.notify_all();  // the next one may be planned
    ++in_flight;
    if (parts.group && !follows()) {
      parts.group->begin_block();
    }
    return work;
  }

  void run_all() {
    while (const auto work = next_to_run()) {
      if (follows() && !parts.group->follow()) {
        const std::lock_guard lock(mutex);
        waiting.clear();
        --in_flight;
        continue;
      }
      work->run();
      fail_together(work->failure());
      if (!engine) {
        finish(*work);  // there is nothing that it could run beside
        continue;
      }
      const std::lock_guard lock(mutex);
      run_through = work;
      to_threads.notify_all();
    }
  }

  void finish_all() {
    base::profile::count_apart();
    std::unique_lock lock(mutex);
    while (true) {
      to_threads.wait(lock, [&] { return run_through != nullptr || all_run; });
      if (!run_through) {
        return;
      }
      auto work = std::exchange(run_through, nullptr);
      to_threads.notify_all();
      lock.unlock();
      finish(*work);
      work.reset();
      lock.lock();
    }
  }

  void finish(BlockWork& work) {
    auto scored = work.finish(parts.fingerprint);
    if (parts.group) {
      agree(scored);
    }
    const std::lock_guard lock(mutex);
    if (!follows()) {
      ready.push_back(std::move(scored));
    }
    --in_flight;
    to_main.notify_all();
  }

  /// A block counts where all ranks of the group have scored it: once another has failed sums on a GPU go on with wrong
  /// numbers, and a rank that is left behind would be noticed with the next block at the earliest. So a failure of a
  /// rank that follows reaches the run through the leader. An error may come of another rank's failure.
  void agree(Scored& scored) {
    if (!scored.failure.empty()) {
      fail_together(scored.failure);
      const bool is_own = failed_first || scored.failure_code == base::ExitCode::usage;
      scored.failure = is_own ? scored.failure : parts.group->failure();
      return;
    }
    try {
      parts.group->finish_block();
    } catch (const base::Error& error) {
      scored.failure = error.what();
    }
  }

  /// The others of the group may wait for this rank in the middle of a sum. The first cause counts.
  void fail_together(const std::string& failure) {
    if (parts.group && !failure.empty() && parts.group->fail(failure)) {
      failed_first = true;
    }
  }

  /// Of a thread: what would end the process ends the run, with its cause.
  void guarded(const auto& body) {
    try {
      body();
    } catch (const std::exception& error) {
      Scored failed;
      failed.failure = base::message_of(error);
      failed.failure_code = base::ExitCode::error;
      fail_together(failed.failure);
      const std::lock_guard lock(mutex);
      ready.push_back(std::move(failed));
      to_main.notify_all();
    }
  }

  /// The threads beside the one that runs blocks, each of which waits for its work.
  void start_others(std::vector<std::thread>& others) {
    for (int i = 0; i < planning_threads; ++i) {
      others.emplace_back([this] { guarded([this] { plan_all(); }); });
    }
    others.emplace_back([this] { guarded([this] { finish_all(); }); });
  }

  void note(bool& flag) {
    const std::lock_guard lock(mutex);
    flag = true;
    to_threads.notify_all();
    to_main.notify_all();
  }

  void work() {
    std::vector<std::thread> others;
    try {
      engine = parts.make_engine ? parts.make_engine() : nullptr;
      start_others(others);
    } catch (const std::exception& error) {
      start_failure = std::current_exception();
      fail_together(base::message_of(error));
      note(ending);
    }
    note(started);
    if (!start_failure) {
      guarded([this] { run_all(); });
    }
    note(all_run);
    std::ranges::for_each(others, &std::thread::join);
    {
      const std::lock_guard lock(mutex);
      waiting.clear();  // their plans borrow the engine
    }
    engine.reset();
  }
};

Scorer::Scorer(ScorerParts parts) : state_(std::make_shared<State>()) {
  state_->parts = std::move(parts);
  std::thread([state = state_] {
    state->work();
    state->note(state->ended);
  }).detach();
}

Scorer::~Scorer() {
  std::unique_lock lock(state_->mutex);
  state_->ending = true;
  state_->to_threads.notify_all();
  if (!state_->to_main.wait_for(lock, std::chrono::seconds(1), [&] { return state_->ended; })) {
    abandoned = true;
  }
}

void Scorer::wait_until_ready() {
  std::unique_lock lock(state_->mutex);
  state_->to_main.wait(lock, [&] { return state_->started; });
  if (state_->start_failure) {
    std::rethrow_exception(state_->start_failure);
  }
}

void Scorer::submit(const sweep::Block& block) {
  auto& to = *state_;
  const auto work = std::make_shared<BlockWork>(*to.parts.probe, to.engine.get(), block, to.in_work);
  const std::lock_guard lock(to.mutex);
  to.waiting.push_back({.work = work});
  to.to_threads.notify_all();
}

std::optional<Scored> Scorer::poll() {
  const std::lock_guard lock(state_->mutex);
  auto& ready = state_->ready;
  if (ready.empty() && !state_->stopped && !state_->is_overdue && !state_->follows()) {
    if (auto cause = state_->in_work.overdue(state_->parts.block_limit); !cause.empty()) {
      state_->is_overdue = true;
      ready.emplace_back().failure = std::move(cause);
    }
  }
  if (ready.empty()) {
    return std::nullopt;
  }
  auto scored = std::move(ready.front());
  ready.pop_front();
  return scored;
}

void Scorer::wait(std::chrono::microseconds longest) {
  std::unique_lock lock(state_->mutex);
  state_->to_main.wait_for(lock, longest, [&] { return !state_->ready.empty(); });
}

bool Scorer::take_back(std::uint64_t block) {
  const std::lock_guard lock(state_->mutex);
  state_->to_threads.notify_all();
  return std::erase_if(state_->waiting,
                       [&](const State::Waiting& waiting) { return waiting.work->block().index == block; }) > 0;
}

void Scorer::stop() {
  base::end_holds();
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  if (!state_->follows()) {
    state_->waiting.clear();
    if (state_->parts.group) {
      state_->parts.group->close();
    }
  }
}

bool Scorer::idle() const {
  const std::lock_guard lock(state_->mutex);
  return state_->waiting.empty() && state_->in_flight == 0;
}

bool Scorer::any_abandoned() { return abandoned; }

}  // namespace stereosweep::run
