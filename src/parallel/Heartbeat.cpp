#include "parallel/Heartbeat.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <span>

#include "base/Bytes.hpp"
#include "base/FaultInjection.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"
#include "parallel/Backoff.hpp"
#include "parallel/MpiSession.hpp"
#include "parallel/StartWatch.hpp"

namespace stereosweep::parallel {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::uint32_t magic = 0x73744842;
constexpr std::size_t longest_text = 1200;  // what a network carries in one piece
constexpr Seconds longest_interval{10};
constexpr Seconds longest_pause{0.05};  ///< between two goodbyes
constexpr Seconds time_to_reach{3};
constexpr Seconds time_to_answer{0.8};  ///< mpirun kills 1 s after the TERM that makes rank zero ask
constexpr int copies = 3;               ///< of letters that are not repeated

Seconds interval_for(const HeartbeatLimits& limits) {
  return std::min({limits.others / 8, limits.rank_zero / 8, longest_interval});
}

std::vector<std::byte> encode(const HeartbeatGroup& group) {
  base::ByteWriter out;
  out.raw(group.secret).number(group.port).array(std::span<const std::uint32_t>(group.addresses));
  return out.take();
}

HeartbeatGroup decode_group(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  HeartbeatGroup group;
  std::ranges::copy(in.take(group.secret.size()), group.secret.begin());
  group.port = in.number<std::uint16_t>();
  group.addresses = in.array<std::uint32_t>();
  return group;
}

}  // namespace

enum class Heartbeat::Kind : std::uint8_t { beat = 1, goodbye, last_words, gave_up, answer, all_left, stop, ask };

struct Heartbeat::Peer {
  std::optional<Clock::time_point> heard;  ///< nothing: never, and then it is not watched
  Endpoint endpoint;
  RankProcess process;
  bool visible = false;  ///< its process is one of this machine's
  bool left = false;
  bool answered = false;  ///< since rank zero asked
  std::optional<EarlyEnd> last_words;
};

struct Heartbeat::Letter {
  Kind kind{};
  int rank = 0;
  RankProcess process;
  int status = 0;
  std::string text;

  std::vector<std::byte> encode(std::span<const std::byte> secret) const {
    base::ByteWriter out;
    out.number(magic).raw(secret).number(static_cast<std::uint8_t>(kind)).number(rank).number(process.number);
    out.number(process.start).number(status).text(std::string_view(text).substr(0, longest_text));
    return out.take();
  }

  /// Nothing for what is not of this group.
  static std::optional<Letter> decode(std::span<const std::byte> bytes, std::span<const std::byte> secret) {
    try {
      base::ByteReader in(bytes);
      if (in.number<std::uint32_t>() != magic || !std::ranges::equal(in.take(secret.size()), secret)) {
        return std::nullopt;
      }
      Letter letter;
      letter.kind = static_cast<Kind>(in.number<std::uint8_t>());
      letter.rank = in.number<int>();
      letter.process.number = in.number<std::int64_t>();
      letter.process.start = in.number<std::uint64_t>();
      letter.status = in.number<int>();
      letter.text = in.text();
      return letter;
    } catch (const base::Error&) {
      return std::nullopt;
    }
  }
};

Heartbeat::Heartbeat(int rank, HeartbeatGroup group, HeartbeatLimits limits, std::unique_ptr<DatagramSocket> socket,
                     Leave leave)
    : rank_(rank),
      group_(std::move(group)),
      limits_(limits),
      interval_(interval_for(limits)),
      socket_(std::move(socket)),
      leave_(std::move(leave)),
      peers_(rank == 0 ? group_.hosts.size() : 1) {
  if (rank_ > 0) {
    if (group_.hosts[static_cast<std::size_t>(rank_)] == group_.hosts[0]) {
      candidates_.push_back({loopback_address, group_.port});
    }
    for (const auto address : group_.addresses) {
      candidates_.push_back({address, group_.port});
    }
  }
  thread_ = std::thread([this] { work(); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  socket_->wake();
  thread_.join();
}

void Heartbeat::set_report(Report report) {
  const std::lock_guard lock(report_mutex_);
  report_ = std::move(report);
}

std::string Heartbeat::name_of(std::size_t rank) const {
  return "rank " + std::to_string(rank) + " on " + group_.hosts[rank];
}

std::string Heartbeat::death_of(std::size_t rank) const {
  return base::describe(name_of(rank) + " has died",
                        "process " + std::to_string(peers_[rank].process.number) +
                            " has ended without a word: it crashed or was killed, perhaps for want of memory");
}

void Heartbeat::send(Kind kind, const Endpoint& to, const std::string& text, int status) {
  socket_->send(Letter{kind, rank_, process_, status, text}.encode(group_.secret), to);
}

void Heartbeat::send_to_zero(Kind kind, const std::string& text, int status) {
  for (const auto& candidate : candidates_) {
    send(kind, candidate, text, status);
  }
}

void Heartbeat::work() {
  while (true) {
    socket_->wait(interval_);
    std::string cause;
    bool stop = false;
    {
      const std::lock_guard lock(mutex_);
      if (ending_) {
        return;
      }
      const auto now = Clock::now();
      look_back(now);
      read_letters();
      if (rank_ > 0 && now - beat_at_ >= interval_) {
        beat_at_ = now;
        send_to_zero(Kind::beat);
      }
      cause = lost_rank(now);
      stop = told_to_stop_ || !cause.empty();
    }
    if (stop) {
      end(cause);
      return;
    }
  }
}

/// Time in which this process itself was stopped or starved is nobody's silence.
void Heartbeat::look_back(Clock::time_point now) {
  const auto gap = now - last_look_ - std::chrono::duration_cast<Clock::duration>(interval_);
  last_look_ = now;
  if (gap > std::chrono::seconds(1)) {
    for (auto& peer : peers_) {
      if (peer.heard) {
        *peer.heard += gap;
      }
    }
  }
}

/// Why this process must end; empty if all is well.
std::string Heartbeat::lost_rank(Clock::time_point now) const {
  if (all_left_ || !gave_up_.empty()) {
    return all_left_ ? "" : gave_up_;
  }
  const auto limit = rank_ == 0 ? limits_.others : limits_.rank_zero;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto& peer = peers_[i];
    if (!peer.heard || now - *peer.heard <= limit) {
      continue;
    }
    if (peer.last_words) {
      return peer.last_words->cause;
    }
    if (peer.visible && !is_alive(peer.process)) {
      return death_of(i);
    }
    return base::describe(name_of(i) + " has not answered for " + base::format_double(limit.count()) + " s",
                          "it was stopped, or its node is gone");
  }
  return "";
}

void Heartbeat::end(const std::string& cause) {
  ::alarm(10);  // SIGALRM's default action ends the process, should the disk hang that the report is written to
  if (!cause.empty()) {
    const std::lock_guard lock(report_mutex_);
    base::log(base::LogLevel::error, cause + ": all ranks are ended");
    if (report_) {
      report_(cause);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    for (int copy = 0; copy < copies; ++copy) {
      if (rank_ > 0 && !cause.empty()) {
        send_to_zero(Kind::gave_up, cause);
      }
      for (const auto& peer : peers_) {
        if (rank_ == 0 && peer.heard) {
          send(Kind::stop, peer.endpoint);
        }
      }
    }
  }
  ::alarm(0);
  leave_();
}

void Heartbeat::read_letters() {
  while (const auto received = socket_->receive()) {
    if (const auto letter = Letter::decode(received->letter, group_.secret)) {
      take(*letter, received->sender);
    }
  }
}

void Heartbeat::take(const Letter& letter, const Endpoint& sender) {
  if (rank_ > 0) {
    if (letter.rank != 0) {
      return;
    }
    if (!peers_[0].heard) {
      candidates_ = {sender};
      socket_->connect(sender);
    }
    peers_[0].heard = Clock::now();
    told_to_stop_ = told_to_stop_ || letter.kind == Kind::stop;
    all_left_ = all_left_ || letter.kind == Kind::all_left;
    if (letter.kind == Kind::ask) {
      send_to_zero(Kind::beat);
    }
    changed_.notify_all();
    return;
  }
  if (letter.rank <= 0 || static_cast<std::size_t>(letter.rank) >= peers_.size()) {
    return;
  }
  auto& peer = peers_[static_cast<std::size_t>(letter.rank)];
  if (!peer.heard) {
    peer.process = letter.process;
    peer.visible = group_.hosts[static_cast<std::size_t>(letter.rank)] == group_.hosts[0] && is_alive(letter.process);
  }
  peer.heard = Clock::now();
  peer.endpoint = sender;
  peer.answered = true;
  changed_.notify_all();
  switch (letter.kind) {
    case Kind::goodbye:
      peer.left = true;
      break;
    case Kind::last_words:
      peer.last_words = EarlyEnd{static_cast<base::ExitCode>(letter.status),
                                 name_of(static_cast<std::size_t>(letter.rank)) + ": " + letter.text};
      break;
    case Kind::gave_up:
      gave_up_ = name_of(static_cast<std::size_t>(letter.rank)) + " has given up: " + letter.text;
      break;
    default:
      break;
  }
  send(Kind::answer, sender);
}

bool Heartbeat::all_left() const {
  return std::all_of(peers_.begin() + 1, peers_.end(), [](const Peer& peer) { return peer.left || !peer.heard; });
}

bool Heartbeat::wait_for_answer(Seconds longest) {
  const auto start = Clock::now();
  std::unique_lock lock(mutex_);
  while (!peers_[0].heard && Clock::now() - start < longest) {
    send_to_zero(Kind::beat);
    changed_.wait_for(lock, longest_pause, [this] { return peers_[0].heard.has_value(); });
  }
  return peers_[0].heard.has_value();
}

bool Heartbeat::hears_rank_zero() const {
  const std::lock_guard lock(mutex_);
  return peers_[0].heard.has_value();
}

void Heartbeat::wait_for_all_to_leave() {
  base::inject_fault("goodbye");
  std::unique_lock lock(mutex_);
  if (rank_ == 0) {
    changed_.wait(lock, [this] { return all_left(); });
    for (int copy = 0; copy < copies; ++copy) {
      for (const auto& peer : peers_) {
        if (peer.heard) {
          send(Kind::all_left, peer.endpoint);
        }
      }
    }
    all_left_ = true;
    lock.unlock();
    wait_for_processes();
    return;
  }
  send_to_zero(Kind::goodbye);
  auto pause = longest_pause;
  while (peers_[0].heard && !all_left_ && !socket_->refused()) {  // refused: rank zero has gone, its letter is lost
    changed_.wait_for(lock, pause, [this] { return all_left_; });
    pause = std::min(2 * pause, interval_);
    send_to_zero(Kind::goodbye);
  }
}

/// Rank zero is the last to go, so that those of its machine are watched to their end.
void Heartbeat::wait_for_processes() {
  const Backoff backoff;
  const auto start = Clock::now();
  for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
    const auto& peer = peers_[rank];
    while (peer.visible && peer.process != process_ && is_alive(peer.process)) {
      if (Clock::now() - start > limits_.others) {
        end(base::describe(name_of(rank) + " has not ended within " + base::format_double(limits_.others.count()) +
                               " s after all was done",
                           "it was stopped"));
        return;
      }
      backoff.sleep();
    }
  }
}

void Heartbeat::say_last_words(const EarlyEnd& end) {
  const std::lock_guard lock(mutex_);
  if (rank_ > 0) {
    for (int copy = 0; copy < copies; ++copy) {
      send_to_zero(Kind::last_words, end.cause, static_cast<int>(end.exit_code));
    }
  }
}

std::vector<std::size_t> Heartbeat::ask_all(std::unique_lock<std::mutex>& lock) {
  const auto start = Clock::now();
  std::vector<std::size_t> silent;
  for (auto& peer : peers_) {
    peer.answered = false;
  }
  while (true) {
    read_letters();
    silent.clear();
    for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
      const auto& peer = peers_[rank];
      if (peer.heard && !peer.left && !peer.last_words && !peer.answered) {
        silent.push_back(rank);
      }
    }
    if (silent.empty() || Clock::now() - start > time_to_answer) {
      return silent;
    }
    for (const auto rank : silent) {
      send(Kind::ask, peers_[rank].endpoint);
    }
    changed_.wait_for(lock, longest_pause);
  }
}

std::vector<std::size_t> Heartbeat::find_silent_ranks() {
  std::unique_lock lock(mutex_);
  return rank_ > 0 ? std::vector<std::size_t>() : ask_all(lock);
}

std::optional<EarlyEnd> Heartbeat::find_early_end() {
  std::unique_lock lock(mutex_);
  if (rank_ > 0) {
    return std::nullopt;
  }
  std::vector<bool> gone;
  for (const auto& peer : peers_) {
    gone.push_back(peer.visible && !is_alive(peer.process));
  }
  read_letters();  // only now: whoever is gone had said its last words before
  if (!gave_up_.empty()) {
    return EarlyEnd{base::ExitCode::error, gave_up_, true};
  }
  const EarlyEnd* words = nullptr;
  for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
    const auto& peer = peers_[rank];
    if (gone[rank] && !peer.left && !peer.last_words) {
      return EarlyEnd{base::ExitCode::error, death_of(rank), true};
    }
    if (peer.last_words && (words == nullptr || words->exit_code == base::ExitCode::resume)) {
      words = &*peer.last_words;
    }
  }
  if (words == nullptr || words->exit_code == base::ExitCode::resume) {
    for (const auto rank : ask_all(lock)) {
      if (!peers_[rank].visible) {
        return EarlyEnd{
            base::ExitCode::error,
            base::describe(name_of(rank) + " is lost",
                           "it answers no more: it crashed or was killed, perhaps for want of memory, or its "
                           "node is gone"),
            true};
      }
    }
  }
  return words == nullptr ? std::nullopt : std::optional(*words);
}

bool Heartbeat::hears_all() const {
  const std::lock_guard lock(mutex_);
  return std::all_of(peers_.begin() + 1, peers_.end(), [](const Peer& peer) { return peer.heard.has_value(); });
}

std::unique_ptr<Heartbeat> start_heartbeat(const Communicator& world, HeartbeatLimits limits) {
  if (world.size() == 1) {
    return nullptr;
  }
  const StartWatch watch(start_limit());
  auto socket = std::make_unique<DatagramSocket>();
  HeartbeatGroup group;
  if (world.rank() == 0) {
    group.port = socket->port();
    group.addresses = own_addresses();
    if (::getrandom(group.secret.data(), group.secret.size(), 0) != static_cast<ssize_t>(group.secret.size())) {
      throw base::Error("the system gives no random numbers");
    }
  }
  group = decode_group(world.broadcast(encode(group), 0));
  group.hosts = world.gather_everywhere(host_name());
  auto heartbeat = std::make_unique<Heartbeat>(world.rank(), group, limits, std::move(socket), [] { ::_exit(1); });
  const bool reached = world.rank() == 0 || heartbeat->wait_for_answer(time_to_reach);
  const auto all = world.gather_everywhere(reached ? "" : std::to_string(world.rank()));
  std::vector<std::string> unreached;
  std::ranges::copy_if(all, std::back_inserter(unreached), [](const std::string& rank) { return !rank.empty(); });
  if (world.rank() == 0 && !unreached.empty()) {
    base::log(base::LogLevel::warning,
              base::describe("signs of life (UDP) do not get from ranks " + base::join(unreached, ", ") + " to rank 0",
                             "a firewall between the nodes?") +
                  ": should one hang while no blocks are scored, nobody will notice");
  }
  return heartbeat;
}

void leave_together(Heartbeat& heartbeat, int status) {
  std::cout.flush();
  if (!std::cout && status == 0) {
    base::log(base::LogLevel::error, "cannot write to standard output");
    status = 1;
  }
  heartbeat.wait_for_all_to_leave();
  ::_exit(status);
}

}  // namespace stereosweep::parallel
