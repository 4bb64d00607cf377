#include "probes/association/scores/SharedSlabs.hpp"

#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/Bytes.hpp"
#include "parallel/Backoff.hpp"
#include "parallel/Messenger.hpp"

namespace stereosweep::probes::association {
namespace {

constexpr std::uint32_t slab_kind = 1;
constexpr std::uint32_t taken_kind = 2;
constexpr std::uint64_t slabs_ahead = 2;

template <class Value>
void put(base::ByteWriter& out, const std::vector<Value>& values) {
  out.number(std::uint64_t{values.size()}).raw(std::as_bytes(std::span(values)));
}

template <class Value>
std::vector<Value> take(base::ByteReader& in) {
  std::vector<Value> values(in.number<std::uint64_t>());
  const auto bytes = in.take(values.size() * sizeof(Value));
  if (!values.empty()) {
    std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
  }
  return values;
}

void put(base::ByteWriter& out, const results::ScoreTableWriter::Part& part) {
  out.number(part.subject).number(part.first_sentence).number(part.num_sentences);
  put(out, part.values);
  put(out, part.statuses);
}

results::ScoreTableWriter::Part take_part(base::ByteReader& in) {
  results::ScoreTableWriter::Part part;
  part.subject = in.number<std::uint64_t>();
  part.first_sentence = in.number<std::uint64_t>();
  part.num_sentences = in.number<std::uint64_t>();
  part.values = take<double>(in);
  part.statuses = take<results::ScoreStatus>(in);
  return part;
}

std::vector<std::byte> bytes_of(const ScoreSlab& slab) {
  base::ByteWriter out;
  put(out, slab.poles);
  put(out, slab.pairs);
  put(out, slab.counts.cells);
  put(out, slab.counts.scores);
  return out.take();
}

ScoreSlab slab_of(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  ScoreSlab slab;
  slab.poles = take_part(in);
  slab.pairs = take_part(in);
  slab.counts.cells = take<std::uint64_t>(in);
  slab.counts.scores = take<decltype(StatusCounts::scores)::value_type>(in);
  return slab;
}

/// The next message of one rank; those of the others wait in `arrived`.
class Inbox {
 public:
  explicit Inbox(parallel::Messenger& messenger) : messenger_(messenger) {}

  std::vector<std::byte> next(int source) {
    auto& queue = arrived_[source];
    for (parallel::Backoff backoff; queue.empty();) {
      if (auto message = messenger_.poll()) {
        arrived_[message->source].push_back(std::move(message->bytes));
        backoff.reset();
      } else {
        backoff.sleep();
      }
    }
    auto bytes = std::move(queue.front());
    queue.erase(queue.begin());
    return bytes;
  }

 private:
  parallel::Messenger& messenger_;
  std::map<int, std::vector<std::vector<std::byte>>> arrived_;
};

void wait_until_sent(parallel::Messenger& messenger) {
  for (const parallel::Backoff backoff; !messenger.all_sent();) {
    backoff.sleep();
  }
}

}  // namespace

void send_slabs(const parallel::Communicator& world, const ScoreReader& reader) {
  parallel::Messenger messenger(world);
  Inbox inbox(messenger);
  std::uint64_t sent = 0;
  const auto share = static_cast<std::uint64_t>(world.rank()) - 1;
  const auto num_shares = static_cast<std::uint64_t>(world.size()) - 1;
  reader.for_each(share, num_shares, [&](const ScoreSlab& slab) {
    auto bytes = bytes_of(slab);
    if (sent++ >= slabs_ahead) {
      inbox.next(0);
    }
    messenger.send(0, slab_kind, std::move(bytes));
  });
  wait_until_sent(messenger);
  for (auto left = std::min(sent, slabs_ahead); left > 0; --left) {
    inbox.next(0);
  }
}

void receive_slabs(const parallel::Communicator& world, std::uint64_t num_slabs,
                   const std::function<void(const ScoreSlab&)>& use) {
  parallel::Messenger messenger(world);
  Inbox inbox(messenger);
  const auto num_shares = static_cast<std::uint64_t>(world.size()) - 1;
  for (std::uint64_t place = 0; place < num_slabs; ++place) {
    const auto source = 1 + static_cast<int>(place % num_shares);
    const auto bytes = inbox.next(source);
    messenger.send(source, taken_kind);
    use(slab_of(bytes));
  }
  wait_until_sent(messenger);
}

}  // namespace stereosweep::probes::association
