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

}  // namespace

struct Messenger::Outgoing {
  std::vector<std::byte> frame;
  std::vector<MPI_Request> requests;
};

Messenger::Messenger(const Communicator& group, std::size_t chunk_bytes)
    : group_(group.duplicate()), chunk_bytes_(chunk_bytes) {
  STEREOSWEEP_ASSERT(chunk_bytes > sizeof(FrameHead) && chunk_bytes <= (std::size_t{1} << 30), "1 GiB at most");
}

Messenger::~Messenger() {
  for (auto& message : outgoing_) {
    static_cast<void>(message.release());  // undelivered, the run is ending with an error: MPI may still read the bytes
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

std::optional<Message> Messenger::poll() {
  if (group_.handle() == nullptr) {
    return std::nullopt;
  }
  progress();
  int found = 0;
  MPI_Message matched = MPI_MESSAGE_NULL;
  MPI_Status status{};
  check_mpi(MPI_Improbe(MPI_ANY_SOURCE, first_tag, group_.handle()->value, &found, &matched, &status), "MPI_Improbe");
  if (found == 0) {
    return std::nullopt;
  }
  int count = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  std::vector<std::byte> frame(static_cast<std::size_t>(count));
  check_mpi(MPI_Mrecv(frame.data(), count, MPI_BYTE, &matched, MPI_STATUS_IGNORE), "MPI_Mrecv");
  FrameHead head;
  STEREOSWEEP_ASSERT(frame.size() >= sizeof(head), "a first piece holds the head");
  std::memcpy(&head, frame.data(), sizeof(head));
  Message message{status.MPI_SOURCE, head.kind, std::move(frame)};
  message.bytes.erase(message.bytes.begin(), message.bytes.begin() + sizeof(head));
  auto done = message.bytes.size();
  message.bytes.resize(head.size);
  while (done < head.size) {
    const auto part = std::min<std::size_t>(chunk_bytes_, head.size - done);
    check_mpi(MPI_Recv(message.bytes.data() + done, static_cast<int>(part), MPI_BYTE, message.source, rest_tag,
                       group_.handle()->value, MPI_STATUS_IGNORE),
              "MPI_Recv");
    done += part;
  }
  return message;
}

}  // namespace stereosweep::parallel
