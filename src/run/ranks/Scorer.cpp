#include "run/ranks/Scorer.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <thread>

#include "base/Log.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/process/Profile.hpp"

namespace stereosweep::run {
namespace {

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

void InWork::begin(std::uint64_t block) {
  const std::lock_guard lock(mutex_);
  block_ = block;
  prompt_.clear();
  start_ = std::chrono::steady_clock::now();
}

void InWork::has_prompt(const query::Query& first) {
  const std::lock_guard lock(mutex_);
  prompt_ = prompt_of(first);
}

void InWork::end() {
  const std::lock_guard lock(mutex_);
  block_.reset();
}

std::string InWork::overdue(std::chrono::seconds limit) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_look_ > std::chrono::seconds(1)) {
    start_ += now - std::max(last_look_, start_);  // the whole process was stopped or starved, not this block
  }
  last_look_ = now;
  const auto time = now - start_;
  if (!block_ || limit.count() == 0 || time <= limit) {
    return "";
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  return base::describe("block " + std::to_string(*block_) + " has been in work for " + std::to_string(seconds) + " s",
                        "execution.block_limit_s: " + std::to_string(limit.count()),
                        prompt_.empty() ? "it has no prompt yet" : "its first prompt: '" + prompt_ + "'");
}

Scored score_block(const probes::Probe& probe, const base::Digest& fingerprint, query::Engine* engine,
                   const sweep::Block& block, InWork& in_work) {
  const base::profile::Span span("prompts and answers");
  in_work.begin(block.index);
  const auto start = std::chrono::steady_clock::now();
  const auto before = engine == nullptr ? query::EngineCounts() : engine->counts();
  Scored scored;
  scored.id = {{}, block.index, block.num_contexts, {}};
  try {
    base::inject_fault("block_start");
    probes::Transcript transcript;
    std::optional<probes::Round> round;
    if (engine != nullptr) {
      round = probe.first(block);
    }
    if (round && !round->queries.empty()) {
      in_work.has_prompt(round->queries.front());
    }
    base::inject_fault("block_prompts");
    while (round) {
      auto answers = engine->answer(round->queries);
      transcript.rounds.push_back(std::move(*round));
      transcript.answers.push_back(std::move(answers));
      round = probe.next(block, transcript);
    }
    base::ByteWriter out;
    probe.fold(block, transcript).write(out);
    scored.payload = out.take();
    scored.id.key = probes::block_key(probe, block, fingerprint);
    base::inject_fault("block_done");
  } catch (const base::Error& error) {
    scored.failure = error.what();
    scored.failure_code = error.exit_code();
  } catch (const std::exception& error) {
    scored.failure = std::string("block ") + std::to_string(block.index) + ": " + error.what();
  }
  if (engine != nullptr) {
    scored.id.cost = engine->counts();
    scored.id.cost -= before;
  }
  in_work.end();
  scored.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return scored;
}

struct Scorer::State {
  ScorerParts parts;
  InWork in_work;
  mutable std::mutex mutex;
  std::condition_variable to_thread;
  std::condition_variable to_main;
  std::deque<sweep::Block> waiting;
  std::deque<Scored> ready;
  std::exception_ptr start_failure;
  bool started = false;
  bool working = false;
  bool ending = false;
  bool ended = false;

  bool follows() const { return parts.group && parts.group->rank() > 0; }

  /// The next block to score; nothing: the thread ends.
  std::optional<sweep::Block> next() {
    if (follows()) {
      const auto ordered = parts.group->next_order();
      return ordered ? std::optional(parts.probe->blocks().block(*ordered)) : std::nullopt;
    }
    const base::profile::Span span("waiting for blocks");
    std::unique_lock lock(mutex);
    to_thread.wait(lock, [&] { return ending || !waiting.empty(); });
    if (ending) {
      return std::nullopt;
    }
    const auto block = waiting.front();
    waiting.pop_front();
    working = true;
    return block;
  }

  Scored score(const sweep::Block& block, query::Engine* engine) {
    Scored scored;
    try {
      if (parts.group && !follows()) {
        parts.group->order(block.index);
      }
      scored = score_block(*parts.probe, parts.fingerprint, engine, block, in_work);
    } catch (const base::Error& error) {
      scored.failure = error.what();
      return scored;
    }
    if (parts.group && scored.failure.empty()) {
      finish_order(scored);
      return scored;
    }
    // An error may come of another rank's failure.
    const auto cause = parts.group ? parts.group->failure() : "";
    if (!cause.empty() && scored.failure_code != base::ExitCode::usage) {
      scored.failure = cause;
    } else if (parts.group && !scored.failure.empty()) {
      parts.group->fail(scored.failure);
    }
    return scored;
  }

  /// A block counts where all ranks of the group have scored it: once another has failed sums on a GPU go on with wrong
  /// numbers, and a rank that is left behind would be noticed with the next block at the earliest.
  void finish_order(Scored& scored) const {
    try {
      parts.group->finish_order();
    } catch (const base::Error& error) {
      scored.failure = error.what();
    }
  }

  std::unique_ptr<query::Engine> make_engine() {
    try {
      return parts.make_engine ? parts.make_engine() : nullptr;
    } catch (const std::exception& error) {
      start_failure = std::current_exception();
      if (parts.group) {
        parts.group->fail(error.what());  // the others may wait for this rank on their GPUs
      }
      return nullptr;
    }
  }

  /// A failure of a rank that follows reaches the run through the leader, which waits for it in each block.
  void score_all(query::Engine* engine) {
    bool failed = false;
    while (const auto block = failed ? std::nullopt : next()) {
      auto scored = score(*block, engine);
      failed = follows() && !scored.failure.empty();
      const std::lock_guard lock(mutex);
      if (!follows()) {
        ready.push_back(std::move(scored));
      }
      working = false;
      to_main.notify_all();
    }
  }

  void note(bool& flag) {
    const std::lock_guard lock(mutex);
    flag = true;
    to_main.notify_all();
  }

  void work() {
    auto engine = make_engine();
    note(started);
    if (!start_failure) {
      try {
        score_all(engine.get());
      } catch (const base::Error& error) {  // of a rank that follows
        base::log(base::LogLevel::warning, error.what());
      }
    }
    engine.reset();
    note(ended);
  }
};

Scorer::Scorer(ScorerParts parts) : state_(std::make_shared<State>()) {
  state_->parts = std::move(parts);
  std::thread([state = state_] { state->work(); }).detach();
}

Scorer::~Scorer() {
  std::unique_lock lock(state_->mutex);
  state_->ending = true;
  state_->to_thread.notify_all();
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
  const std::lock_guard lock(state_->mutex);
  state_->waiting.push_back(block);
  state_->to_thread.notify_one();
}

std::optional<Scored> Scorer::poll() {
  const std::lock_guard lock(state_->mutex);
  if (state_->ready.empty()) {
    return std::nullopt;
  }
  auto scored = std::move(state_->ready.front());
  state_->ready.pop_front();
  return scored;
}

void Scorer::wait(std::chrono::microseconds longest) {
  std::unique_lock lock(state_->mutex);
  state_->to_main.wait_for(lock, longest, [&] { return !state_->ready.empty(); });
}

bool Scorer::take_back(std::uint64_t block) {
  const std::lock_guard lock(state_->mutex);
  return std::erase_if(state_->waiting, [&](const sweep::Block& waiting) { return waiting.index == block; }) > 0;
}

void Scorer::drop_waiting() {
  base::end_holds();
  const std::lock_guard lock(state_->mutex);
  state_->waiting.clear();
}

bool Scorer::idle() const {
  const std::lock_guard lock(state_->mutex);
  return state_->waiting.empty() && !state_->working;
}

std::string Scorer::overdue() const { return state_->in_work.overdue(state_->parts.block_limit); }

bool Scorer::any_abandoned() { return abandoned; }

}  // namespace stereosweep::run
