#include "parallel/Messenger.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/Error.hpp"
#include "parallel/Backoff.hpp"
#include "parallel/MpiHandle.hpp"

namespace stereosweep::parallel {
namespace {

using Word = std::uint64_t;  // MPI counts are int: of words, not of bytes

constexpr std::size_t most_incoming = 64;  // the others wait where they are

}  // namespace

/// A message on its way: its bytes, and as many more as fill a word.
struct Messenger::Transfer {
  int source = 0;
  int tag = 0;  ///< its kind, and in the last digit (of eight) how many more
  std::vector<std::byte> frame;
  MPI_Request request = MPI_REQUEST_NULL;

  bool has_ended() {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }
};

Messenger::Messenger(const Communicator& group) : group_(group.split(0)) {}

Messenger::~Messenger() {
  // undelivered, the run is ending with an error: MPI may still read and write the bytes
  for (auto* messages : {&outgoing_, &incoming_}) {
    for (auto& message : *messages) {
      static_cast<void>(message.release());
    }
  }
}

void Messenger::send(int destination, std::uint32_t kind, std::vector<std::byte> bytes) {
  STEREOSWEEP_ASSERT(destination < size(), "a message goes to a rank");
  if (destination == rank()) {
    own_.push_back({rank(), kind, std::move(bytes)});
    return;
  }
  const auto words = (bytes.size() + sizeof(Word) - 1) / sizeof(Word);
  STEREOSWEEP_ASSERT(words <= std::numeric_limits<int>::max(), "a message has less than 16 GiB");
  auto& message = *outgoing_.emplace_back(std::make_unique<Transfer>());
  message.tag = static_cast<int>(kind * sizeof(Word) + words * sizeof(Word) - bytes.size());
  message.frame = std::move(bytes);
  message.frame.resize(words * sizeof(Word));
  check_mpi(MPI_Isend(message.frame.data(), static_cast<int>(words), MPI_UINT64_T, destination, message.tag,
                      group_.handle()->value, &message.request),
            "MPI_Isend");
}

bool Messenger::all_sent() {
  std::erase_if(outgoing_, [](const std::unique_ptr<Transfer>& message) { return message->has_ended(); });
  return outgoing_.empty();
}

void Messenger::accept() {
  while (incoming_.size() < most_incoming) {
    int found = 0;
    MPI_Message matched = MPI_MESSAGE_NULL;
    MPI_Status status{};
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, group_.handle()->value, &found, &matched, &status),
              "MPI_Improbe");
    if (found == 0) {
      return;
    }
    int words = 0;
    check_mpi(MPI_Get_count(&status, MPI_UINT64_T, &words), "MPI_Get_count");
    auto& message = *incoming_.emplace_back(std::make_unique<Transfer>());
    message.source = status.MPI_SOURCE;
    message.tag = status.MPI_TAG;
    message.frame.resize(static_cast<std::size_t>(words) * sizeof(Word));
    check_mpi(MPI_Imrecv(message.frame.data(), words, MPI_UINT64_T, &matched, &message.request), "MPI_Imrecv");
  }
}

std::optional<Message> Messenger::poll() {
  if (!own_.empty()) {
    auto message = std::move(own_.front());
    own_.pop_front();
    return message;
  }
  if (group_.handle() == nullptr) {
    return std::nullopt;
  }
  all_sent();
  accept();
  std::set<int> seen;  // of each sender only the oldest message may be given out
  for (auto it = incoming_.begin(); it != incoming_.end(); ++it) {
    auto& message = **it;
    if (!seen.insert(message.source).second || !message.has_ended()) {
      continue;
    }
    const auto tag = static_cast<std::size_t>(message.tag);
    Message whole{message.source, static_cast<std::uint32_t>(tag / sizeof(Word)), std::move(message.frame)};
    whole.bytes.resize(whole.bytes.size() - tag % sizeof(Word));
    incoming_.erase(it);
    return whole;
  }
  return std::nullopt;
}

Message Messenger::wait() {
  for (const Backoff backoff;; backoff.sleep()) {
    if (auto message = poll()) {
      return std::move(*message);
    }
  }
}

std::vector<std::byte> Messenger::wait_for(int source) {
  auto& messages = kept_[source];
  while (messages.empty()) {
    auto message = wait();
    kept_[message.source].push_back(std::move(message.bytes));
  }
  auto bytes = std::move(messages.front());
  messages.pop_front();
  return bytes;
}

void Messenger::wait_until_sent() {
  for (const Backoff backoff; !all_sent();) {
    backoff.sleep();
  }
}

}  // namespace stereosweep::parallel
