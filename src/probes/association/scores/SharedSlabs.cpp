#include "probes/association/scores/SharedSlabs.hpp"

#include <span>
#include <utility>
#include <vector>

#include "base/Bytes.hpp"
#include "parallel/Messenger.hpp"

namespace stereosweep::probes::association {
namespace {

constexpr std::uint32_t slab_kind = 1;
constexpr std::uint32_t taken_kind = 2;
constexpr std::uint64_t slabs_ahead = 2;

void put(base::ByteWriter& out, const results::ScoreTableWriter::Part& part) {
  out.number(part.subject).number(part.first_sentence).number(part.num_sentences);
  out.array(std::span(part.values)).array(std::span(part.statuses));
}

results::ScoreTableWriter::Part take_part(base::ByteReader& in) {
  results::ScoreTableWriter::Part part;
  part.subject = in.number<std::uint64_t>();
  part.first_sentence = in.number<std::uint64_t>();
  part.num_sentences = in.number<std::uint64_t>();
  part.values = in.array<double>();
  part.statuses = in.array<results::ScoreStatus>();
  return part;
}

std::vector<std::byte> bytes_of(const ScoreSlab& slab) {
  base::ByteWriter out;
  put(out, slab.poles);
  put(out, slab.pairs);
  out.array(std::span(slab.counts.cells)).array(std::span(slab.counts.scores));
  return out.take();
}

ScoreSlab slab_of(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  ScoreSlab slab;
  slab.poles = take_part(in);
  slab.pairs = take_part(in);
  slab.counts.cells = in.array<std::uint64_t>();
  slab.counts.scores = in.array<decltype(StatusCounts::scores)::value_type>();
  return slab;
}

}  // namespace

void send_slabs(const parallel::Communicator& world, const ScoreReader& reader) {
  parallel::Messenger messenger(world);
  std::uint64_t sent = 0;
  const auto share = static_cast<std::uint64_t>(world.rank()) - 1;
  const auto num_shares = static_cast<std::uint64_t>(world.size()) - 1;
  reader.for_each(share, num_shares, [&](const ScoreSlab& slab) {
    auto bytes = bytes_of(slab);
    if (sent++ >= slabs_ahead) {
      messenger.wait_for(0);
    }
    messenger.send(0, slab_kind, std::move(bytes));
  });
  messenger.wait_until_sent();
  for (auto left = std::min(sent, slabs_ahead); left > 0; --left) {
    messenger.wait_for(0);
  }
}

void receive_slabs(const parallel::Communicator& world, std::uint64_t num_slabs,
                   const std::function<void(const ScoreSlab&)>& use) {
  parallel::Messenger messenger(world);
  const auto num_shares = static_cast<std::uint64_t>(world.size()) - 1;
  for (std::uint64_t place = 0; place < num_slabs; ++place) {
    const auto source = 1 + static_cast<int>(place % num_shares);
    const auto bytes = messenger.wait_for(source);
    messenger.send(source, taken_kind);
    use(slab_of(bytes));
  }
  messenger.wait_until_sent();
}

}  // namespace stereosweep::probes::association
