#include "base/Bytes.hpp"
#include "base/Environment.hpp"
#include "base/Text.hpp"
#include "parallel/Backoff.hpp"
#include "run/Coordinator.hpp"

namespace stereosweep::run {
namespace {

class Worker {
 public:
  Worker(parallel::Messenger& messenger, Scorer& scorer, const sweep::BlockPlan& blocks, const SignalWatcher& signals)
      : messenger_(messenger), scorer_(scorer), blocks_(blocks), signals_(signals) {}

  StopOrder serve() {
    parallel::Backoff backoff;
    while (!finished()) {
      bool busy = false;
      while (const auto message = messenger_.poll()) {
        take(*message);
        busy = true;
      }
      while (const auto scored = scorer_.poll()) {
        send(*scored);
        busy = true;
      }
      report_signal();
      report_overdue();
      check_rank_zero();
      if (busy || messenger_.moving()) {
        backoff.reset();
      }
      scorer_.wait(backoff.pause());
    }
    while (const auto scored = scorer_.poll()) {
      send(*scored);
    }
    messenger_.send(0, number(MessageKind::bye));
    const auto start = Clock::now();
    while (!messenger_.all_sent() && since(start) < goodbye_grace) {
      scorer_.wait(parallel::Backoff().pause());
    }
    return order_;
  }

 private:
  bool finished() const {
    return ordered_ && (order_.exit_code == base::ExitCode::done || scorer_.idle() || since(ordered_at_) > stop_grace);
  }

  void take(const parallel::Message& message) {
    heard_ = Clock::now();
    switch (static_cast<MessageKind>(message.kind)) {
      case MessageKind::grant:
        if (!ordered_) {
          scorer_.submit(blocks_.block(base::ByteReader(message.bytes).number<std::uint64_t>()));
        }
        break;
      case MessageKind::ping:
        messenger_.send(0, number(MessageKind::pong));
        break;
      case MessageKind::finish:
        obey({base::ExitCode::done, ""});
        break;
      case MessageKind::stop:
        obey(decode_stop(message.bytes));
        break;
      default:
        throw base::Error("rank 0 sent a message that only workers send");
    }
  }

  void obey(StopOrder order) {
    order_ = std::move(order);
    ordered_ = true;
    ordered_at_ = Clock::now();
    scorer_.drop_waiting();
  }

  void send(const Scored& scored) {
    if (scored.failure.empty()) {
      messenger_.send(0, number(MessageKind::result), encode(scored));
    } else {
      messenger_.send(0, number(MessageKind::failed), encode(StopOrder{scored.failure_code, scored.failure}));
    }
  }

  void report_signal() {
    if (signals_.received() != 0 && !reported_) {
      messenger_.send(0, number(MessageKind::signalled), base::ByteWriter().number(signals_.received()).take());
      reported_ = true;
    }
  }

  void report_overdue() {
    if (ordered_ || overdue_) {
      return;
    }
    if (const auto cause = scorer_.overdue(); !cause.empty()) {
      messenger_.send(0, number(MessageKind::failed), encode(StopOrder{base::ExitCode::error, cause}));
      overdue_ = true;
    }
  }

  void check_rank_zero() {
    const auto now = Clock::now();
    if (now - last_look_ > std::chrono::seconds(1)) {
      heard_ += now - last_look_;  // this process itself was stopped or starved: its silence is not rank zero's
    }
    last_look_ = now;
    if (now - heard_ > patience_) {
      throw base::Error(base::describe("rank 0 has not been heard for " + base::format_double(patience_.count()) + " s",
                                       "it hangs or its node is gone"));
    }
  }

  parallel::Messenger& messenger_;
  Scorer& scorer_;
  const sweep::BlockPlan& blocks_;
  const SignalWatcher& signals_;
  StopOrder order_;
  bool ordered_ = false;
  bool reported_ = false;
  bool overdue_ = false;
  Clock::time_point ordered_at_;
  Clock::time_point heard_ = Clock::now();
  Clock::time_point last_look_ = Clock::now();
  Seconds patience_{3 * base::seconds_from_environment("STEREOSWEEP_RANK_TIMEOUT_S", 120)};
};

}  // namespace

StopOrder work_for_rank_zero(parallel::Messenger& messenger, Scorer& scorer, const sweep::BlockPlan& blocks,
                             const SignalWatcher& signals) {
  return Worker(messenger, scorer, blocks, signals).serve();
}

}  // namespace stereosweep::run
