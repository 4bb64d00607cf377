#include "run/ranks/Coordinator.hpp"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/process/Environment.hpp"
#include "base/process/Profile.hpp"
#include "base/text/Text.hpp"
#include "parallel/Backoff.hpp"

namespace stereosweep::run {
namespace {

constexpr std::size_t commit_bytes = std::size_t{8} << 20;
/// Results that wait for a slow disk: from here on nobody is granted more.
constexpr std::size_t most_waiting_bytes = std::size_t{64} << 20;
constexpr Seconds status_interval{0.1};
/// Between two indexes of the journal: so much of it a start after a kill reads again.
constexpr Seconds index_interval{180};
/// Of a ping, where a rank may have died: mpirun kills 1 s after the TERM that makes rank zero ask.
constexpr Seconds time_to_answer{0.8};

/// The main thread of a rank, rank zero's among them: takes what rank zero sends, and sends what becomes of it.
class Worker {
 public:
  Worker(parallel::Messenger& messenger, Scorer& scorer, const sweep::BlockPlan& blocks, const SignalWatcher& signals)
      : messenger_(messenger), scorer_(scorer), blocks_(blocks), signals_(signals) {}

  void take(const parallel::Message& message) {
    heard_ = Clock::now();
    switch (static_cast<MessageKind>(message.kind)) {
      case MessageKind::grant:
        for (const auto block : base::unpacked<std::vector<std::uint64_t>>(message.bytes)) {
          if (!order_) {
            scorer_.submit(blocks_.block(block));
          }
        }
        break;
      case MessageKind::take_back:
        if (scorer_.take_back(base::unpacked<std::uint64_t>(message.bytes))) {
          messenger_.send(0, number(MessageKind::returned), message.bytes);
        }
        break;
      case MessageKind::ping:
        messenger_.send(0, number(MessageKind::pong));
        break;
      case MessageKind::end:
        order_ = base::unpacked<StopOrder>(message.bytes);
        ordered_at_ = Clock::now();
        if (order_->exit_code != base::ExitCode::done) {
          scorer_.stop();
        }
        break;
      default:
        throw base::Error("rank 0 sent a message that only workers send");
    }
  }

  /// What was scored, a signal; at the end goodbye. Returns whether anything was scored.
  bool report() {
    bool any = false;
    if (has_left_) {
      return any;
    }
    has_left_ = can_leave();
    while (const auto scored = scorer_.poll()) {
      send(*scored);
      any = true;
    }
    report_signal();
    check_rank_zero();
    if (has_left_) {
      messenger_.send(0, number(MessageKind::bye));
    }
    return any;
  }

  bool has_left() const { return has_left_; }
  const StopOrder& order() const { return *order_; }

 private:
  bool can_leave() const {
    return order_ && (order_->exit_code == base::ExitCode::done || scorer_.idle() || since(ordered_at_) > stop_grace);
  }

  void send(const Scored& scored) { messenger_.send(0, number(MessageKind::result), base::packed(scored)); }

  void report_signal() {
    if (signals_.received() != 0 && !reported_) {
      const std::pair signal(signals_.received(), signals_.signalled_rank());
      messenger_.send(0, number(MessageKind::signalled), base::packed(signal));
      reported_ = true;
    }
  }

  void check_rank_zero() {
    const auto now = Clock::now();
    if (now - last_look_ > std::chrono::seconds(1)) {
      heard_ += now - last_look_;  // this process itself was stopped or starved: its silence is not rank zero's
    }
    last_look_ = now;
    base::fail_if(now - heard_ > patience_,
                  "rank 0 has not been heard for " + base::format_double(patience_.count()) + " s",
                  "it hangs or its node is gone");
  }

  parallel::Messenger& messenger_;
  Scorer& scorer_;
  const sweep::BlockPlan& blocks_;
  const SignalWatcher& signals_;
  std::optional<StopOrder> order_;
  bool has_left_ = false;
  bool reported_ = false;
  Clock::time_point ordered_at_;
  Clock::time_point heard_ = Clock::now();
  Clock::time_point last_look_ = Clock::now();
  Seconds patience_{3 * base::seconds_from_environment("STEREOSWEEP_RANK_TIMEOUT_S", 120)};
};

/// What rank zero's main thread does beside that.
class Coordinator {
 public:
  Coordinator(const CoordinatorParts& parts, BlocksLeft& left)
      : parts_(parts),
        left_(left),
        progress_(base::mapped(parts.signals.ranks(), &parallel::RankPlace::name)),
        peers_(base::mapped(base::places_below(parts.leaders.size()),
                            [&](std::size_t rank) {
                              return Peer{.asks = std::cmp_equal(parts.leaders[rank], rank),
                                          .is_alone = std::ranges::count(parts.leaders, parts.leaders[rank]) == 1};
                            })),
        worker_(parts.messenger, parts.scorer, parts.probe.blocks(), parts.signals) {}

  CoordinatorEnd serve() {
    for (std::size_t held = 1; held <= blocks_per_rank; ++held) {
      for (int rank = 0; rank < parts_.messenger.size(); ++rank) {
        grant(rank, held);
      }
    }
    parallel::Backoff backoff;
    while (!finished()) {
      const bool busy = take_all();
      use_disk_if_due();
      look_after();
      if (busy || parts_.messenger.moving()) {
        backoff.reset();
      }
      parts_.scorer.wait(backoff.pause());
    }
    finish_journal();
    parts_.status.update([&](RunStatus& status) {
      progress_.estimate(status);
      progress_.report(status, Progress::Moment::last);
    });
    const auto unreached = std::find_if_not(peers_.begin() + 1, peers_.end(), std::mem_fn(&Peer::gone));
    return {*order_, unreached == peers_.end() ? "" : name_of(static_cast<int>(unreached - peers_.begin()))};
  }

 private:
  struct Peer {
    bool asks = true;      ///< for blocks
    bool is_alone = true;  ///< nobody scores in step with it
    Clock::time_point heard = Clock::now();
    std::vector<std::uint64_t> held = {};  ///< blocks granted and not scored yet, in order: all but the first wait
    Clock::time_point last_result = Clock::now();
    bool asked_back = false;  ///< its last block
    bool gone = false;        ///< said goodbye
    bool answered = false;    ///< since everybody was asked
  };
  Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

  bool everyone_gone() const {
    const auto is_away = [&](const Peer& peer) { return peer.gone || (is_stopping() && is_silent(peer)); };
    return std::ranges::all_of(peers_, is_away);
  }

  bool is_stopping() const { return order_ && order_->exit_code != base::ExitCode::done; }

  bool all_accepted() const { return left_.num_done() == left_.size(); }

  bool finished() {
    if (!order_ && all_accepted() && staged_.empty() && !disk_work_.valid()) {
      give_order({base::ExitCode::done, ""});
    }
    if (!order_) {
      return false;
    }
    const bool give_up = is_stopping() && since(ordered_at_) > stop_grace + goodbye_grace;
    return (everyone_gone() && !take_all()) || give_up;
  }

  bool take_all() {
    bool any = worker_.report();
    while (const auto message = parts_.messenger.poll()) {
      take(*message);
      any = true;
      if (staged_bytes_ > commit_bytes) {
        break;
      }
    }
    return any;
  }

  void take(const parallel::Message& message) {
    peer(message.source).heard = Clock::now();
    switch (static_cast<MessageKind>(message.kind)) {
      case MessageKind::result:
        take(message.source, base::unpacked<Scored>(message.bytes));
        break;
      case MessageKind::returned:
        take_back(message.source, base::unpacked<std::uint64_t>(message.bytes));
        break;
      case MessageKind::signalled:
        note_signal(base::unpacked<std::pair<int, std::string>>(message.bytes));
        break;
      case MessageKind::bye:
        peer(message.source).gone = true;
        break;
      case MessageKind::pong:
        peer(message.source).answered = true;
        break;
      default:
        if (message.source == 0) {
          worker_.take(message);
        } else {
          stop({base::ExitCode::error, name_of(message.source) + " sent a message that only rank 0 sends"});
        }
    }
  }

  void take(int rank, Scored scored) {
    if (scored.failure.empty()) {
      accept(rank, std::move(scored));
    } else {
      stop({scored.failure_code, (peers_.size() > 1 ? name_of(rank) + ": " : "") + scored.failure});
    }
  }

  std::string name_of(int rank) const { return parts_.signals.ranks()[static_cast<std::size_t>(rank)].name; }

  /// How many blocks a rank holds at most: less than half of what is left of the run, so that none has much of it at
  /// the end.
  std::size_t most_held(int rank) const {
    const auto seconds = progress_.seconds_per_block(rank);
    const auto wanted = seconds > 0 ? std::ceil(held_work.count() / seconds) : 0;
    const auto num_asking = static_cast<std::uint64_t>(std::ranges::count_if(peers_, &Peer::asks));
    const auto share = (left_.size() - left_.num_done()) / (2 * num_asking);
    const auto most = std::min(static_cast<double>(std::min(share, most_blocks_per_rank)), wanted);
    return std::max(blocks_per_rank, static_cast<std::size_t>(most));
  }

  /// As many blocks as are worth a message.
  void grant(int rank) {
    const auto most = most_held(rank);
    if (peer(rank).held.size() + std::max<std::size_t>(most / 4, 1) <= most) {
      grant(rank, most);
    }
  }

  /// Until it holds `most`; nothing where it does not ask. To all ranks that score in step with it, too.
  void grant(int rank, std::size_t most) {
    auto& held = peer(rank).held;
    std::vector<std::uint64_t> granted;
    while (!order_ && peer(rank).asks && held.size() < most && left_.any_left() && is_time_for_another(rank)) {
      held.push_back(left_.next());
      granted.push_back(held.back());
    }
    for (int other = 0; !granted.empty() && other < parts_.messenger.size(); ++other) {
      if (parts_.leaders[static_cast<std::size_t>(other)] == rank) {
        parts_.messenger.send(other, number(MessageKind::grant), base::packed(granted));
      }
    }
  }

  /// Whether a block more would end before the time limit.
  bool is_time_for_another(int rank) {
    const auto num_blocks = static_cast<double>(peer(rank).held.size() + 1);
    return !parts_.time_limit ||
           Clock::now() + num_blocks * Seconds(progress_.longest_block(rank)) <= parts_.time_limit->end;
  }

  /// Once no rank holds a block, and none has time for another.
  void stop_for_time_limit() {
    const auto holds_none = [](const Peer& peer) { return peer.held.empty(); };
    if (order_ || !parts_.time_limit || staged_bytes_ >= most_waiting_bytes || !left_.any_left() ||
        !std::ranges::all_of(peers_, holds_none)) {
      return;
    }
    const auto longest = progress_.longest_block(0);
    stop({base::ExitCode::resume,
          base::describe("the time limit is near", longest == 0 ? "no block has been scored"
                                                                : "a block takes up to " + hours(std::ceil(longest)))});
  }

  /// How often a run like this one must be started, told once.
  void tell_number_of_starts() {
    constexpr Seconds until_rates_settle{30};
    const auto& limit = parts_.time_limit;
    const auto left = parts_.status.current().seconds_left;
    if (!limit || told_starts_ || left == 0 || since(began_) < until_rates_settle) {
      return;
    }
    told_starts_ = true;
    const auto per_start = Seconds(limit->end - limit->start).count();
    const auto rest = Seconds(limit->end - Clock::now()).count();
    if (left > rest) {
      base::log(base::LogLevel::info,
                "at this pace " + hours(left) + " are left, and " + hours(std::max(rest, 0.0)) +
                    " of the time limit: about " +
                    base::counted(1 + static_cast<std::uint64_t>(std::ceil((left - rest) / per_start)), "start") +
                    " of " + hours(per_start) + " with this one");
    }
  }

  /// The last blocks: what waits at the ranks that have been quiet longest goes to ranks that have nothing to do.
  void share_out() {
    if (left_.any_left()) {
      return;
    }
    const auto idle = std::ranges::count_if(peers_, &Coordinator::is_idle);
    for (auto asked = std::ranges::count_if(peers_, &Peer::asked_back); asked < idle; ++asked) {
      Peer* slowest = nullptr;
      for (auto& peer : peers_) {
        const bool lends = peer.is_alone && peer.held.size() > 1 && !peer.asked_back && !peer.gone;
        if (lends && (slowest == nullptr || peer.last_result < slowest->last_result)) {
          slowest = &peer;
        }
      }
      if (order_ || slowest == nullptr) {
        return;
      }
      ask_back(static_cast<int>(slowest - peers_.data()));
    }
  }

  static bool is_idle(const Peer& peer) { return peer.asks && peer.held.empty() && !peer.gone; }

  void ask_back(int rank) {
    const auto block = peer(rank).held.back();
    peer(rank).asked_back = true;
    parts_.messenger.send(rank, number(MessageKind::take_back), base::packed(block));
  }

  void take_back(int rank, std::uint64_t block) {
    std::erase(peer(rank).held, block);
    peer(rank).asked_back = false;
    left_.put_back(block);
    for (int other = 0; other < parts_.messenger.size(); ++other) {
      if (is_idle(peer(other))) {
        grant(other);
      }
    }
  }

  void accept(int rank, Scored scored) {
    std::erase(peer(rank).held, scored.id.block_index);
    peer(rank).last_result = Clock::now();
    peer(rank).asked_back = false;
    if (staged_bytes_ < most_waiting_bytes) {
      grant(rank);
      share_out();
    }
    if (journal_failed_) {
      return;
    }
    const auto cells = scored.id.num_contexts * parts_.cells_per_context;
    progress_.add(rank, cells, scored.id.cost.distinct_tokens, scored.seconds);
    left_.mark_done(scored.id.block_index);
    staged_bytes_ += scored.payload.size();
    staged_.push_back(std::move(scored));
  }

  /// Journal and status are written in a thread: grants and pings go on where the disk takes long.
  void use_disk_if_due() {
    if (disk_work_.valid() && disk_work_.wait_for(Seconds(0)) != std::future_status::timeout) {
      end_disk_work();
    }
    const bool commits =
        !staged_.empty() && (since(committed_at_) > commit_interval || staged_bytes_ > commit_bytes || all_accepted());
    if (!disk_work_.valid() && !journal_failed_ && (commits || status_is_due_)) {
      begin_disk_work();
    }
  }

  void begin_disk_work() {
    staged_bytes_ = 0;
    const auto blocks = std::make_shared<const std::vector<Scored>>(std::exchange(staged_, {}));
    const auto work = [this, blocks, writes_status = std::exchange(status_is_due_, false)] {
      if (!blocks->empty()) {
        commit(*blocks);
      }
      if (writes_status) {
        parts_.status.update([](RunStatus&) {});
      }
    };
    // Where no thread can be started it is deferred, and done by this one. (A temporary would have been moved from.)
    disk_work_ = std::async(std::launch::async | std::launch::deferred, work);
    for (int rank = 0; rank < parts_.messenger.size(); ++rank) {
      grant(rank);  // which was not granted more while too much waited
    }
  }

  void commit(const std::vector<Scored>& blocks) {
    base::profile::count_apart();
    const base::profile::Span span("journal");
    query::EngineCounts cost;
    std::uint64_t contexts = 0;
    for (const auto& block : blocks) {
      parts_.journal.stage(block.id, block.payload);
      cost += block.id.cost;
      contexts += block.id.num_contexts;
    }
    parts_.lease.check();
    parts_.journal.commit();
    if (since(indexed_at_) > index_interval) {
      parts_.journal.write_index();
      indexed_at_ = Clock::now();
    }
    parts_.status.change([&](RunStatus& status) {
      status.blocks_done += blocks.size();
      status.cells_done += contexts * parts_.cells_per_context;
      status.cost += cost;
    });
  }

  void end_disk_work() {
    committed_at_ = Clock::now();
    try {
      disk_work_.get();
    } catch (const std::exception& error) {
      journal_failed_ = true;
      staged_.clear();
      stop({base::exit_code_of(error), base::message_of(error)});
    }
  }

  /// Waits for the disk.
  void finish_journal() {
    while (disk_work_.valid() || (!staged_.empty() && !journal_failed_)) {
      if (disk_work_.valid()) {
        end_disk_work();
      } else {
        begin_disk_work();
      }
    }
  }

  /// Its number, and the rank to which it came.
  void note_signal(const std::pair<int, std::string>& signal) {
    if (!order_ && signal_ == 0) {
      std::tie(signal_, signalled_rank_) = signal;
      if (is_perhaps_a_death()) {
        ask_all();
      }
    }
  }

  /// Launchers send TERM to all when a rank has died.
  bool is_perhaps_a_death() const { return signal_ == SIGTERM && parts_.messenger.size() > 1; }

  void ask_all() {
    asked_at_ = Clock::now();
    for (auto& peer : peers_) {
      peer.answered = false;
    }
    ping_all();
  }

  void ping_all() {
    pinged_at_ = Clock::now();
    tell_all(MessageKind::ping);
  }

  void tell_all(MessageKind kind, const std::vector<std::byte>& bytes = {}) {
    for (int rank = 0; rank < parts_.messenger.size(); ++rank) {
      if (!peer(rank).gone) {
        parts_.messenger.send(rank, number(kind), bytes);
      }
    }
  }

  bool is_silent(const Peer& peer) const { return !peer.gone && !peer.answered && since(asked_at_) > time_to_answer; }

  /// Once it is known whether all ranks live.
  void stop_for_signal() {
    if (order_ || signal_ == 0) {
      return;
    }
    if (is_perhaps_a_death()) {
      for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
        const auto& place = parts_.signals.ranks()[rank];
        if (!peers_[rank].gone && place.is_seen_dead()) {
          lose(stop_for_death(place));
          return;
        }
      }
      if (const auto lost = std::ranges::find_if(peers_, [&](const Peer& peer) { return is_silent(peer); });
          lost != peers_.end()) {
        lose({base::ExitCode::error,
              base::describe(name_of(static_cast<int>(lost - peers_.begin())) + " is lost",
                             "it answers no more: it crashed or was killed, perhaps for want of memory, or its node "
                             "is gone"),
              true});
        return;
      }
      if (std::ranges::any_of(peers_, [](const Peer& peer) { return !peer.gone && !peer.answered; })) {
        return;
      }
    }
    stop(run::stop_for_signal(signal_, signalled_rank_));
  }

  /// Because of ranks that do not answer: where this process itself was held up for long, they have given it up.
  void lose(StopOrder order) {
    if (held_up_until_ && since(*held_up_until_) < patience_ + Seconds(5)) {
      order.cause =
          base::describe(name_of(0) + " was held up for " + base::format_double(std::round(held_up_.count())) + " s",
                         "it was stopped, or its disk or node hung; the other ranks have given it up");
    }
    stop(std::move(order));
  }

  void stop(StopOrder order) {
    if (is_stopping()) {
      base::log(base::LogLevel::warning, "while stopping: " + order.cause);
      return;
    }
    const bool clean = order.exit_code == base::ExitCode::resume;
    base::log(clean ? base::LogLevel::warning : base::LogLevel::error,
              "stopping: " + order.cause + (clean ? std::string("; ") + how_to_go_on : ""));
    give_order(std::move(order));
    parts_.status.update([&](RunStatus& status) {  // at once: mpirun kills 1 s after it has passed TERM on
      status.state = clean ? "stopping" : order_->state();
      status.cause = order_->cause;
    });
    if (!is_perhaps_a_death()) {
      ask_all();  // nobody waits for the goodbye of ranks that do not answer
    }
  }

  void give_order(StopOrder order) {
    order_ = std::move(order);
    ordered_at_ = Clock::now();
    tell_all(MessageKind::end, base::packed(*order_));
  }

  /// Signals that came, silent ranks, status and progress.
  void look_after() {
    if (since(last_look_) > patience_) {
      held_up_ = since(last_look_);
      held_up_until_ = Clock::now();
    }
    stop_for_signal();
    stop_for_time_limit();
    const auto now = Clock::now();
    if (now - last_look_ > std::chrono::seconds(1)) {
      for (auto& peer : peers_) {
        peer.heard += now - last_look_;  // rank zero itself was held up (a slow disk): nobody else is late
      }
    }
    last_look_ = now;
    if (now - pinged_at_ > patience_ / 4) {
      ping_all();
    }
    for (int rank = 1; rank < parts_.messenger.size(); ++rank) {
      if (!peer(rank).gone && !is_stopping() && now - peer(rank).heard > patience_) {
        lose({base::ExitCode::error,
              base::describe(name_of(rank) + " has not answered for " + base::format_double(patience_.count()) + " s",
                             "it hangs, was stopped, or its node is gone"),
              true});
      }
    }
    if (!order_ && now - status_at_ > status_interval) {
      status_at_ = now;
      parts_.status.change([&](RunStatus& status) { progress_.estimate(status); });
      tell_number_of_starts();
      status_is_due_ = progress_.report(parts_.status.current(), Progress::Moment::any) || status_is_due_;
    }
  }

  const CoordinatorParts& parts_;
  BlocksLeft& left_;
  Progress progress_;
  std::vector<Peer> peers_;
  Worker worker_;
  std::optional<StopOrder> order_;
  bool journal_failed_ = false;
  bool status_is_due_ = false;
  int signal_ = 0;  ///< the first that came to any rank
  std::string signalled_rank_;
  Seconds held_up_{0};  ///< how long this process did nothing, when that was last longer than a rank may be silent
  std::optional<Clock::time_point> held_up_until_;
  std::vector<Scored> staged_;  ///< for the journal
  std::size_t staged_bytes_ = 0;
  bool told_starts_ = false;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point ordered_at_;
  Clock::time_point asked_at_;
  Clock::time_point committed_at_ = Clock::now();
  Clock::time_point indexed_at_ = Clock::now();  ///< of the disk's thread
  Clock::time_point last_look_ = Clock::now();
  Clock::time_point pinged_at_ = Clock::now();
  Clock::time_point status_at_ = Clock::now();
  Seconds patience_{base::seconds_from_environment("STEREOSWEEP_RANK_TIMEOUT_S", 120)};
  std::future<void> disk_work_;  ///< the last member: it uses the others
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

void BlocksLeft::want_only(const std::vector<std::uint64_t>& blocks) {
  left_out_.assign(done_.size(), true);
  size_ = num_done_;
  for (const auto block : blocks) {
    left_out_.at(block) = false;
    size_ += done_[block] ? 0 : 1;
  }
  cursor_ = 0;
}

bool BlocksLeft::any_left() {
  while (cursor_ < done_.size() && (done_[cursor_] || !is_wanted(cursor_))) {
    ++cursor_;
  }
  return !put_back_.empty() || cursor_ < done_.size();
}

std::uint64_t BlocksLeft::next() {
  if (!put_back_.empty()) {
    const auto block = put_back_.back();
    put_back_.pop_back();
    return block;
  }
  return !any_left() ? cursor_ : cursor_++;
}

CoordinatorEnd coordinate(const CoordinatorParts& parts, BlocksLeft& left) { return Coordinator(parts, left).serve(); }

StopOrder work_for_rank_zero(parallel::Messenger& messenger, Scorer& scorer, const sweep::BlockPlan& blocks,
                             const SignalWatcher& signals) {
  Worker worker(messenger, scorer, blocks, signals);
  parallel::Backoff backoff;
  while (!worker.has_left()) {
    bool busy = false;
    while (const auto message = messenger.poll()) {
      worker.take(*message);
      busy = true;
    }
    busy = worker.report() || busy;
    if (busy || messenger.moving()) {
      backoff.reset();
    }
    scorer.wait(backoff.pause());
  }
  const auto start = Clock::now();
  while (!messenger.all_sent() && since(start) < goodbye_grace) {
    scorer.wait(parallel::Backoff().pause());
  }
  return worker.order();
}

}  // namespace stereosweep::run
