#include "findings/sharing/Sharing.hpp"

namespace stereosweep::results {

// For base::pack.
auto fields_of(base::Either<AxisSchema::Coordinate> auto& coordinate) {
  return std::tie(coordinate.name, coordinate.long_name, coordinate.values);
}
auto fields_of(base::Either<AxisSchema> auto& axis) {
  return std::tie(axis.name, axis.long_name, axis.labels, axis.coordinates);
}

}  // namespace stereosweep::results

namespace stereosweep::findings {
namespace {

/// Collective: what the units of all ranks gave. `own` holds this rank's at their places.
std::vector<UnitBytes> exchange_units(const parallel::Communicator& ranks, std::vector<UnitBytes> own) {
  const auto step = static_cast<std::size_t>(ranks.size());
  for (std::size_t rank = 0; rank < step; ++rank) {
    base::ByteWriter out;
    for (auto unit = rank; unit < own.size(); unit += step) {
      out.array<std::byte>(own[unit]);
    }
    const auto bytes = ranks.broadcast(out.take(), static_cast<int>(rank));
    base::ByteReader in(bytes);
    for (auto unit = rank; unit < own.size(); unit += step) {
      own[unit] = in.array<std::byte>();
    }
  }
  return own;
}

/// What rank zero reads, on every rank.
template <class Value>
std::vector<Value> read_everywhere(const parallel::Communicator& ranks,
                                   const std::function<std::vector<Value>(std::size_t)>& read, std::size_t measure) {
  std::vector<Value> values;
  parallel::coordinated(ranks, [&] {
    if (ranks.rank() == 0) {
      values = read(measure);
    }
  });
  values.resize(ranks.broadcast(std::uint64_t{values.size()}, 0));
  ranks.broadcast_into(std::as_writable_bytes(std::span(values)), 0);
  return values;
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

SharedScores::SharedScores(const Scores* own, const Workers& ranks) {
  if (ranks.size() == 1) {
    scores_ = *own;
    scores_.ranks = ranks;
    return;
  }
  bool has_poles = false;
  bool has_statuses = false;
  const auto told = std::tie(axes_, poles_, has_poles, has_statuses, scores_.num_rounds);
  if (own != nullptr) {
    std::ranges::transform(own->axes, axes_.begin(), [](const auto* axis) { return *axis; });
    has_poles = own->poles != nullptr;
    poles_ = has_poles ? *own->poles->axes[item_axis] : results::AxisSchema();
    has_statuses = static_cast<bool>(own->read_statuses);
    scores_.num_rounds = own->num_rounds;
  }
  unpack(ranks.broadcast(own != nullptr ? packed(told) : UnitBytes(), 0), told);
  std::ranges::transform(axes_, scores_.axes.begin(), [](const auto& axis) { return &axis; });
  const auto read_from = [ranks]<class Value>(const std::function<std::vector<Value>(std::size_t)>* read) {
    return [ranks, read](std::size_t measure) {
      return read_everywhere<Value>(ranks, read != nullptr ? *read : nullptr, measure);
    };
  };
  scores_.ranks = ranks;
  scores_.read = read_from(own != nullptr ? &own->read : nullptr);
  if (has_poles) {
    scores_.add_poles(poles_, read_from(own != nullptr ? &own->poles->read : nullptr));
  }
  if (has_statuses) {
    scores_.read_statuses = read_from(own != nullptr ? &own->read_statuses : nullptr);
  }
}

}  // namespace stereosweep::findings
