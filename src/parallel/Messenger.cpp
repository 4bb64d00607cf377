#include "parallel/Messenger.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/Check.hpp"
#include "parallel/MpiHandle.hpp"

namespace stereosweep::parallel {
namespace {

/// Goes before the first piece.
struct FrameHead {
  std::uint64_t size = 0;
  std::uint32_t kind = 0;
  std::uint32_t unused = 0;
};

constexpr int first_tag = 1;
constexpr int rest_tag = 2;
constexpr std::size_t most_incoming = 64;  // the others wait where they are

}  // namespace

struct Messenger::Outgoing {
  std::vector<std::byte> frame;
  std::vector<MPI_Request> requests;
};

/// A message on its way in: the first piece, then the rest behind it.
struct Messenger::Incoming {
  int source = 0;
  std::vector<std::byte> frame;
  std::vector<MPI_Request> requests;
  bool whole = false;  ///< `requests` are for all of it

  bool arrived() {
    int done = 0;
    check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    return done != 0;
  }

  FrameHead head() const {
    FrameHead head;
    STEREOSWEEP_ASSERT(frame.size() >= sizeof(head), "a first piece holds the head");
    std::memcpy(&head, frame.data(), sizeof(head));
    return head;
  }

  /// The first piece is here: its head says what follows.
  void ask_for_rest(MPI_Comm group, std::size_t chunk_bytes) {
    auto done = frame.size();
    frame.resize(sizeof(FrameHead) + head().size);
    requests.clear();
    for (; done < frame.size(); done += std::min(chunk_bytes, frame.size() - done)) {
      const auto count = std::min(chunk_bytes, frame.size() - done);
      auto& request = requests.emplace_back(MPI_REQUEST_NULL);
      check_mpi(MPI_Irecv(frame.data() + done, static_cast<int>(count), MPI_BYTE, source, rest_tag, group, &request),
                "MPI_Irecv");
    }
    whole = true;
  }
};

Messenger::Messenger(const Communicator& group, std::size_t chunk_bytes)
    : group_(group.duplicate()), chunk_bytes_(chunk_bytes) {
  STEREOSWEEP_ASSERT(chunk_bytes > sizeof(FrameHead) && chunk_bytes <= (std::size_t{1} << 30), "1 GiB at most");
}

Messenger::~Messenger() {
  // undelivered, the run is ending with an error: MPI may still read and write the bytes
  for (auto& message : outgoing_) {
    static_cast<void>(message.release());
  }
  for (auto& message : incoming_) {
    static_cast<void>(message.release());
  }
}

void Messenger::send(int destination, std::uint32_t kind, std::vector<std::byte> bytes) {
  STEREOSWEEP_ASSERT(destination != rank() && destination < size(), "a message goes to another rank");
  auto message = std::make_unique<Outgoing>();
  const FrameHead head{bytes.size(), kind, 0};
  message->frame.resize(sizeof(head) + bytes.size());
  std::memcpy(message->frame.data(), &head, sizeof(head));
  std::ranges::copy(bytes, message->frame.begin() + sizeof(head));
  for (std::size_t done = 0; done < message->frame.size(); done += chunk_bytes_) {
    const auto count = std::min(chunk_bytes_, message->frame.size() - done);
    auto& request = message->requests.emplace_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Isend(message->frame.data() + done, static_cast<int>(count), MPI_BYTE, destination,
                        done == 0 ? first_tag : rest_tag, group_.handle()->value, &request),
              "MPI_Isend");
  }
  outgoing_.push_back(std::move(message));
}

void Messenger::progress() {
  std::erase_if(outgoing_, [](const std::unique_ptr<Outgoing>& message) {
    int done = 0;
    check_mpi(
        MPI_Testall(static_cast<int>(message->requests.size()), message->requests.data(), &done, MPI_STATUSES_IGNORE),
        "MPI_Testall");
    return done != 0;
  });
}

bool Messenger::all_sent() {
  progress();
  return outgoing_.empty();
}

void Messenger::accept_first_pieces() {
  while (true) {
    int found = 0;
    MPI_Message matched = MPI_MESSAGE_NULL;
    MPI_Status status{};
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, first_tag, group_.handle()->value, &found, &matched, &status), "MPI_Improbe");
    if (found == 0) {
      return;
    }
    int count = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    auto message = std::make_unique<Incoming>();
    message->source = status.MPI_SOURCE;
    message->frame.resize(static_cast<std::size_t>(count));
    auto& request = message->requests.emplace_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Imrecv(message->frame.data(), count, MPI_BYTE, &matched, &request), "MPI_Imrecv");
    incoming_.push_back(std::move(message));
    if (incoming_.size() >= most_incoming) {
      return;
    }
  }
}

std::optional<Message> Messenger::poll() {
  if (group_.handle() == nullptr) {
    return std::nullopt;
  }
  progress();
  if (incoming_.size() < most_incoming) {
    accept_first_pieces();
  }
  // Pieces are matched in the order in which they were sent, so of each sender only the oldest message goes on.
  std::vector<bool> seen(static_cast<std::size_t>(size()));
  for (auto it = incoming_.begin(); it != incoming_.end(); ++it) {
    auto& message = **it;
    if (seen[static_cast<std::size_t>(message.source)]) {
      continue;
    }
    seen[static_cast<std::size_t>(message.source)] = true;
    if (!message.arrived()) {
      continue;
    }
    if (!message.whole) {
      message.ask_for_rest(group_.handle()->value, chunk_bytes_);
      if (!message.arrived()) {
        continue;
      }
    }
    Message whole{message.source, message.head().kind, std::move(message.frame)};
    whole.bytes.erase(whole.bytes.begin(), whole.bytes.begin() + sizeof(FrameHead));
    incoming_.erase(it);
    return whole;
  }
  return std::nullopt;
}

}  // namespace stereosweep::parallel
