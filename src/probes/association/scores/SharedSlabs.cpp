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

std::vector<std::byte> bytes_of(const ScoreSlab& slab, const SlabScores& scores) {
  base::ByteWriter out;
  out.number(slab.group).number(slab.first_sentence).number(slab.num_sentences);
  put(out, slab.values);
  put(out, slab.statuses);
  put(out, slab.cell_statuses);
  put(out, scores.poles);
  put(out, scores.pairs);
  return out.take();
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

void send_slabs(const parallel::Communicator& world, const ScoreReader& reader, const TraitPairs& traits,
                Statistics::Aggregate aggregate) {
  parallel::Messenger messenger(world);
  Inbox inbox(messenger);
  std::uint64_t sent = 0;
  const auto share = static_cast<std::uint64_t>(world.rank()) - 1;
  const auto num_shares = static_cast<std::uint64_t>(world.size()) - 1;
  reader.for_each(share, num_shares, [&](const ScoreSlab& slab) {
    auto bytes = bytes_of(slab, fold_traits(slab, reader.num_words(), traits, aggregate));
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
                   const std::function<void(const ScoreSlab&, const SlabScores&)>& use) {
  parallel::Messenger messenger(world);
  Inbox inbox(messenger);
  const auto num_shares = static_cast<std::uint64_t>(world.size()) - 1;
  for (std::uint64_t place = 0; place < num_slabs; ++place) {
    const auto source = 1 + static_cast<int>(place % num_shares);
    const auto bytes = inbox.next(source);
    messenger.send(source, taken_kind);
    base::ByteReader in(bytes);
    ScoreSlab slab;
    slab.group = in.number<std::uint64_t>();
    slab.first_sentence = in.number<std::uint64_t>();
    slab.num_sentences = in.number<std::uint64_t>();
    slab.values = take<double>(in);
    slab.statuses = take<stats::ScoreStatus>(in);
    slab.cell_statuses = take<std::uint8_t>(in);
    SlabScores scores;
    scores.poles = take<CoveredScore>(in);
    scores.pairs = take<CoveredScore>(in);
    use(slab, scores);
  }
  wait_until_sent(messenger);
}

}  // namespace stereosweep::probes::association
