#include "findings/sharing/Sharing.hpp"

namespace stereosweep::findings {
namespace {

/// Collective: what the units of all ranks gave. `own` holds this rank's at their places.
std::vector<UnitBytes> exchange_units(const parallel::Communicator& ranks, std::vector<UnitBytes> own) {
  const auto step = static_cast<std::size_t>(ranks.size());
  for (std::size_t rank = 0; rank < step; ++rank) {
    base::ByteWriter out;
    for (auto unit = rank; unit < own.size(); unit += step) {
      out.number(std::uint64_t{own[unit].size()}).raw(own[unit]);
    }
    const auto bytes = ranks.broadcast(out.take(), static_cast<int>(rank));
    base::ByteReader in(bytes);
    for (auto unit = rank; unit < own.size(); unit += step) {
      const auto part = in.take(in.number<std::uint64_t>());
      own[unit].assign(part.begin(), part.end());
    }
  }
  return own;
}

}  // namespace

std::vector<UnitBytes> share_bytes(const Workers& ranks, std::size_t num_units,
                                   const std::function<UnitBytes(std::size_t)>& compute) {
  const auto compute_all = [&] {
    std::vector<UnitBytes> units(num_units);
    const auto step = static_cast<std::size_t>(ranks.size());
    const auto compute_own = [&] {
      for (auto unit = static_cast<std::size_t>(ranks.rank()); unit < num_units; unit += step) {
        units[unit] = compute(unit);
      }
    };
    step == 1 ? compute_own() : parallel::coordinated(ranks, compute_own);
    base::ByteWriter out;
    for (const auto& unit : step == 1 ? std::move(units) : exchange_units(ranks, std::move(units))) {
      out.array<std::byte>(unit);
    }
    return out.take();
  };
  const auto piece = ranks.kept == nullptr ? compute_all() : ranks.kept->next(compute_all);
  std::vector<UnitBytes> units(num_units);
  base::ByteReader in(piece);
  std::ranges::generate(units, [&] { return in.array<std::byte>(); });
  return units;
}

std::vector<UnitBytes> share_measures(
    const Scores& scores, const std::vector<std::size_t>& measures,
    const std::function<UnitBytes(std::vector<double> values, std::size_t place)>& compute) {
  const auto step = static_cast<std::size_t>(scores.ranks.size());
  const auto rank = static_cast<std::size_t>(scores.ranks.rank());
  std::vector<UnitBytes> results;
  for (std::size_t first = 0; first < measures.size(); first += step) {
    const auto count = std::min(step, measures.size() - first);
    std::vector<double> own;
    for (std::size_t unit = 0; unit < count; ++unit) {
      auto values = scores.read(measures[first + unit]);
      if (unit == rank) {
        own = std::move(values);
      }
    }
    const auto shared =
        share_bytes(scores.ranks, count, [&](std::size_t unit) { return compute(std::move(own), first + unit); });
    results.insert(results.end(), shared.begin(), shared.end());
  }
  return results;
}

std::vector<double> shared_max_t(const Workers& ranks, std::span<const double> differences, std::size_t num_blocks,
                                 const stats::SignFlipSettings& settings) {
  const stats::SignFlipMaxT tests(differences, num_blocks, settings);
  const auto num_ranks = static_cast<std::size_t>(ranks.size());
  std::vector<std::uint64_t> reached;
  for (const auto& counts :
       share<std::uint64_t>(ranks, num_ranks, [&](std::size_t unit) { return tests.reached(unit, num_ranks); })) {
    reached.resize(counts.size(), 0);
    std::ranges::transform(reached, counts, reached.begin(), std::plus<>());
  }
  return tests.adjusted(reached);
}

}  // namespace stereosweep::findings
