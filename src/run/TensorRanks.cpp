#include "run/TensorRanks.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "base/Log.hpp"
#include "parallel/Communicator.hpp"

namespace stereosweep::run {

TensorRanks::TensorRanks(const parallel::Communicator& world, int ranks_per_group) : leaders_(world) {
  if (ranks_per_group == 1) {
    return;
  }
  const auto node = world.node();
  parallel::coordinated(world, [&] {
    if (node.size() % ranks_per_group != 0) {
      throw base::InputError(
          base::describe("tensor_parallel: " + std::to_string(ranks_per_group) + " on a node with " +
                             std::to_string(node.size()) + (node.size() == 1 ? " rank" : " ranks"),
                         "a model's slices lie on one node",
                         "start a multiple of that many ranks per node, or change execution.tensor_parallel"));
    }
  });
  group_ = node.split(node.rank() / ranks_per_group);
  leaders_ = world.split(leads() ? 0 : 1);
  tensors_ = std::make_shared<parallel::TensorGroup>(world, group_);
}

void TensorRanks::dismiss(const StopOrder& order, Work work) const {
  if (!tensors_) {
    return;
  }
  tensors_->close();
  if (work == Work::given_up) {
    tensors_->fail(order.cause.empty() ? "the block in work was given up" : order.cause);
  }
  group_.broadcast_at_the_end(encode(order), 0);
}

StopOrder TensorRanks::wait_for_dismissal() const { return decode_stop(group_.broadcast_at_the_end({}, 0)); }

struct Follower::State {
  State(ScorerParts scorer_parts, sweep::BlockPlan block_plan)
      : parts(std::move(scorer_parts)), blocks(std::move(block_plan)) {}

  ScorerParts parts;
  sweep::BlockPlan blocks;
  std::mutex mutex;
  std::condition_variable changed;
  std::exception_ptr start_failure;
  bool started = false;
  bool ended = false;

  void work() {
    std::unique_ptr<query::Engine> engine;
    try {
      engine = make_engine_in_group(parts);
    } catch (...) {
      start_failure = std::current_exception();
    }
    note(started);
    if (engine) {
      follow(engine.get());
    }
    engine.reset();
    note(ended);
  }

  // A failure here reaches the run through the leader: its next sum or order throws with this cause.
  void follow(query::Engine* engine) const {
    InWork in_work;  // the leader of the group is the one that is watched
    try {
      while (const auto block = parts.group->next_order()) {
        if (!score_in_group(parts, engine, blocks.block(*block), in_work).failure.empty()) {
          return;
        }
      }
    } catch (const base::Error& error) {
      base::log(base::LogLevel::warning, error.what());
    }
  }

  void note(bool& flag) {
    const std::lock_guard lock(mutex);
    flag = true;
    changed.notify_all();
  }
};

Follower::Follower(ScorerParts parts, sweep::BlockPlan blocks)
    : state_(std::make_shared<State>(std::move(parts), std::move(blocks))) {
  std::thread([state = state_] { state->work(); }).detach();
}

Follower::~Follower() {
  std::unique_lock lock(state_->mutex);
  if (!state_->changed.wait_for(lock, std::chrono::seconds(1), [&] { return state_->ended; })) {
    Scorer::note_abandoned();
  }
}

void Follower::wait_until_ready() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->started; });
  if (state_->start_failure) {
    std::rethrow_exception(state_->start_failure);
  }
}

}  // namespace stereosweep::run
