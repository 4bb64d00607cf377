// Messages between two ranks: sent without waiting, received by asking. No collectives, any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "parallel/Communicator.hpp"

namespace stereosweep::parallel {

struct Message {
  int source = 0;
  std::uint32_t kind = 0;
  std::vector<std::byte> bytes;
};

/// Local calls, from the main thread only. Messages of one sender arrive in the order in which they were sent.
class Messenger {
 public:
  /// Collective: gets a group of its own.
  explicit Messenger(const Communicator& group);
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;
  ~Messenger();

  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }
  /// Returns at once; keeps the bytes, of those to another rank less than 16 GiB, until they are delivered. Kinds are
  /// below 4096, since MPI promises tags up to 32767.
  void send(int destination, std::uint32_t kind, std::vector<std::byte> bytes = {});
  /// The next message that has arrived whole, from anyone. Never waits, whatever became of a sender. Also moves what
  /// is being sent.
  std::optional<Message> poll();
  /// The same, waited for.
  Message wait();
  /// The bytes of the next message of one rank, waited for; those of others are kept for later calls, which `poll` and
  /// `wait` do not know of.
  std::vector<std::byte> wait_for(int source);
  void wait_until_sent();
  /// Whether bytes are on their way in or out: they move only while poll() is called.
  bool moving() const { return !outgoing_.empty() || !incoming_.empty(); }
  /// Whether all that was sent has been delivered or is on its way for good.
  bool all_sent();

 private:
  struct Transfer;
  void accept();
  Communicator group_;
  std::vector<std::unique_ptr<Transfer>> outgoing_;
  std::vector<std::unique_ptr<Transfer>> incoming_;  ///< oldest first
  std::deque<Message> own_;                          ///< from this rank to itself
  std::map<int, std::deque<std::vector<std::byte>>> kept_;
};

}  // namespace stereosweep::parallel
