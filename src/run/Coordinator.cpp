#include "run/Coordinator.hpp"

#include <algorithm>

#include "base/Log.hpp"
#include "base/Text.hpp"
#include "parallel/Backoff.hpp"
#include "run/EarlyEnds.hpp"
#include "run/Environment.hpp"

namespace stereosweep::run {
namespace {

constexpr std::size_t commit_bytes = std::size_t{8} << 20;
constexpr Seconds status_interval{0.1};

std::uint32_t number(MessageKind kind) { return static_cast<std::uint32_t>(kind); }

class Coordinator {
 public:
  Coordinator(const CoordinatorParts& parts, BlocksLeft& left)
      : parts_(parts),
        left_(left),
        accepted_(left.num_done()),
        progress_(parts.hosts),
        peers_(static_cast<std::size_t>(parts.messenger.size())) {}

  CoordinatorEnd serve() {
    for (int held = 0; held < blocks_per_rank; ++held) {
      for (int rank = 0; rank < parts_.messenger.size(); ++rank) {
        grant(rank);
      }
    }
    parallel::Backoff backoff;
    while (!finished()) {
      const bool busy = take_all();
      commit_if_due();
      look_after();
      if (busy || parts_.messenger.moving()) {
        backoff.reset();
      }
      parts_.scorer.wait(backoff.pause());
    }
    commit();
    parts_.status.update([&](RunStatus& status) {
      progress_.estimate(status);
      progress_.report(status, Progress::Moment::last);
    });
    CoordinatorEnd end{order_, {}};
    for (int rank = 1; rank < parts_.messenger.size(); ++rank) {
      if (!peer(rank).gone) {
        end.unreached.push_back(rank);
      }
    }
    return end;
  }

 private:
  struct Peer {
    Clock::time_point heard = Clock::now();
    bool gone = false;    ///< said goodbye
    bool silent = false;  ///< will never say it
  };
  Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

  bool everyone_gone() const {
    return std::all_of(peers_.begin() + 1, peers_.end(), [](const Peer& peer) { return peer.gone || peer.silent; });
  }

  bool finished() {
    if (!ordered_ && accepted_ == left_.size()) {
      commit();
      if (!ordered_) {
        give_order({base::ExitCode::done, ""}, MessageKind::finish);
      }
    }
    if (!ordered_) {
      return false;
    }
    const auto waited = since(ordered_at_);
    const bool own_done = parts_.scorer.idle() || waited > stop_grace;
    const bool give_up = order_.exit_code != base::ExitCode::done && waited > stop_grace + goodbye_grace;
    return (own_done && everyone_gone() && !take_all()) || give_up;
  }

  bool take_all() {
    bool any = false;
    while (const auto message = parts_.messenger.poll()) {
      take(*message);
      any = true;
      if (parts_.journal.staged_bytes() > commit_bytes) {
        break;
      }
    }
    while (const auto scored = parts_.scorer.poll()) {
      if (scored->failure.empty()) {
        accept(0, *scored);
      } else {
        stop({scored->failure_code, scored->failure});
      }
      any = true;
    }
    return any;
  }

  void take(const parallel::Message& message) {
    peer(message.source).heard = Clock::now();
    switch (static_cast<MessageKind>(message.kind)) {
      case MessageKind::result:
        accept(message.source, decode_scored(message.bytes));
        break;
      case MessageKind::failed: {
        auto failure = decode_stop(message.bytes);
        stop({failure.exit_code, name_of(message.source) + ": " + failure.cause});
        break;
      }
      case MessageKind::signalled:
        stop_for_signal(static_cast<int>(decode_number(message.bytes)), message.source);
        break;
      case MessageKind::bye:
        peer(message.source).gone = true;
        break;
      case MessageKind::pong:
        break;
      default:
        stop({base::ExitCode::error, name_of(message.source) + " sent a message that only rank 0 sends"});
    }
  }

  std::string name_of(int rank) const {
    return "rank " + parts_.world_ranks[static_cast<std::size_t>(rank)] + " on " +
           parts_.hosts[static_cast<std::size_t>(rank)];
  }

  void grant(int rank) {
    const auto block = ordered_ ? left_.size() : left_.next();
    if (block == left_.size()) {
      return;
    }
    if (rank == 0) {
      parts_.scorer.submit(parts_.probe.blocks().block(block));
    } else {
      parts_.messenger.send(rank, number(MessageKind::grant), encode_number(block));
    }
  }

  void accept(int rank, const Scored& scored) {
    grant(rank);
    if (journal_failed_) {
      return;
    }
    parts_.journal.stage(scored.id, scored.payload);
    const auto cells = scored.id.num_contexts * parts_.cells_per_context;
    progress_.add(rank, cells, scored.id.cost.distinct_tokens, scored.seconds);
    left_.mark_done(scored.id.block_index);
    ++accepted_;
    ++staged_blocks_;
    staged_cells_ += cells;
    staged_cost_ += scored.id.cost;
  }

  void commit_if_due() {
    if (staged_blocks_ > 0 &&
        (since(committed_at_) > commit_interval || parts_.journal.staged_bytes() > commit_bytes)) {
      commit();
    }
  }

  void commit() {
    if (staged_blocks_ == 0 || journal_failed_) {
      return;
    }
    try {
      parts_.lease.check();
      parts_.journal.commit();
    } catch (const base::Error& error) {
      journal_failed_ = true;
      stop({error.exit_code(), error.what()});
      return;
    }
    committed_at_ = Clock::now();
    parts_.status.change([&](RunStatus& status) {
      status.blocks_done += staged_blocks_;
      status.cells_done += staged_cells_;
      status.cost += staged_cost_;
    });
    staged_cost_ = {};
    staged_blocks_ = 0;
    staged_cells_ = 0;
  }

  void stop_for_signal(int signal, int rank) {
    if (ordered_) {
      return;
    }
    stop(explain_signal(signal, name_of(rank), parts_.heartbeat));
  }

  void stop(StopOrder order) {
    if (ordered_ && order_.exit_code != base::ExitCode::done) {
      base::log(base::LogLevel::warning, "while stopping: " + order.cause);
      return;
    }
    const bool clean = order.exit_code == base::ExitCode::resume;
    base::log(clean ? base::LogLevel::warning : base::LogLevel::error,
              "stopping: " + order.cause + (clean ? std::string("; ") + how_to_go_on : ""));
    give_order(std::move(order), MessageKind::stop);
    parts_.scorer.drop_waiting();
    parts_.status.update([&](RunStatus& status) {  // at once: mpirun kills 1 s after it has passed TERM on
      status.state = clean ? "stopping" : order_.state();
      status.cause = order_.cause;
    });
    note_silent();
  }

  /// Dead and stopped ranks say no goodbye: nobody waits for theirs.
  void note_silent() {
    if (parts_.heartbeat == nullptr) {
      return;
    }
    for (const auto world_rank : parts_.heartbeat->find_silent_ranks()) {
      const auto found = std::ranges::find(parts_.world_ranks, std::to_string(world_rank));
      if (found != parts_.world_ranks.end()) {
        peers_[static_cast<std::size_t>(found - parts_.world_ranks.begin())].silent = true;
      }
    }
  }

  void give_order(StopOrder order, MessageKind kind) {
    order_ = std::move(order);
    ordered_ = true;
    ordered_at_ = Clock::now();
    for (int rank = 1; rank < parts_.messenger.size(); ++rank) {
      parts_.messenger.send(rank, number(kind), kind == MessageKind::stop ? encode(order_) : std::vector<std::byte>());
    }
  }

  /// Signals, silent ranks, status and progress.
  void look_after() {
    if (parts_.signals.received() != 0) {
      stop_for_signal(parts_.signals.received(), 0);
    }
    if (!ordered_) {
      if (const auto cause = parts_.scorer.overdue(); !cause.empty()) {
        stop({base::ExitCode::error, name_of(0) + ": " + cause});
      }
    }
    const auto now = Clock::now();
    if (now - last_look_ > std::chrono::seconds(1)) {
      for (auto& peer : peers_) {
        peer.heard += now - last_look_;  // rank zero itself was held up (a slow disk): nobody else is late
      }
    }
    last_look_ = now;
    if (now - pinged_at_ > patience_ / 4) {
      pinged_at_ = now;
      for (int rank = 1; rank < parts_.messenger.size(); ++rank) {
        if (!peer(rank).gone) {
          parts_.messenger.send(rank, number(MessageKind::ping));
        }
      }
    }
    for (int rank = 1; rank < parts_.messenger.size(); ++rank) {
      if (!peer(rank).gone && !lost_ && now - peer(rank).heard > patience_) {
        lost_ = true;
        stop({base::ExitCode::error,
              base::describe(name_of(rank) + " has not answered for " + base::format_double(patience_.count()) + " s",
                             "it hangs, was stopped, or its node is gone"),
              true});
      }
    }
    if (!ordered_ && now - status_at_ > status_interval) {
      status_at_ = now;
      parts_.status.change([&](RunStatus& status) { progress_.estimate(status); });
      if (progress_.report(parts_.status.current(), Progress::Moment::any)) {
        parts_.status.update([](RunStatus&) {});
      }
    }
  }

  const CoordinatorParts& parts_;
  BlocksLeft& left_;
  std::uint64_t accepted_;
  Progress progress_;
  std::vector<Peer> peers_;
  StopOrder order_;
  bool ordered_ = false;
  bool journal_failed_ = false;
  bool lost_ = false;
  std::uint64_t staged_blocks_ = 0;
  std::uint64_t staged_cells_ = 0;
  query::EngineCounts staged_cost_;
  Clock::time_point ordered_at_;
  Clock::time_point committed_at_ = Clock::now();
  Clock::time_point last_look_ = Clock::now();
  Clock::time_point pinged_at_ = Clock::now();
  Clock::time_point status_at_ = Clock::now();
  Seconds patience_{seconds_from_environment("STEREOSWEEP_RANK_TIMEOUT_S", 120)};
};

}  // namespace

bool BlocksLeft::mark_done(std::uint64_t block) {
  if (done_.at(block)) {
    return false;
  }
  done_[block] = true;
  ++num_done_;
  return true;
}

std::uint64_t BlocksLeft::next() {
  while (cursor_ < done_.size() && done_[cursor_]) {
    ++cursor_;
  }
  return cursor_ == done_.size() ? cursor_ : cursor_++;
}

CoordinatorEnd coordinate(const CoordinatorParts& parts, BlocksLeft& left) { return Coordinator(parts, left).serve(); }

}  // namespace stereosweep::run
