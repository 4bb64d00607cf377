#include "findings/sharing/SharedScores.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "base/Bytes.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::size_t part_bytes = std::size_t{8} << 20;  // sent at a time
constexpr std::uint64_t no_rounds = std::numeric_limits<std::uint64_t>::max();

void put(base::ByteWriter& out, const std::vector<std::string>& texts) {
  out.number(std::uint64_t{texts.size()});
  for (const auto& text : texts) {
    out.text(text);
  }
}

std::vector<std::string> take_texts(base::ByteReader& in) {
  std::vector<std::string> texts(in.number<std::uint64_t>());
  std::ranges::generate(texts, [&] { return in.text(); });
  return texts;
}

void put(base::ByteWriter& out, const results::AxisSchema& axis) {
  out.text(axis.name).text(axis.long_name);
  put(out, axis.labels);
  out.number(std::uint64_t{axis.coordinates.size()});
  for (const auto& coordinate : axis.coordinates) {
    out.text(coordinate.name).text(coordinate.long_name);
    put(out, coordinate.values);
  }
}

results::AxisSchema take_axis(base::ByteReader& in) {
  results::AxisSchema axis;
  axis.name = in.text();
  axis.long_name = in.text();
  axis.labels = take_texts(in);
  axis.coordinates.resize(in.number<std::uint64_t>());
  for (auto& coordinate : axis.coordinates) {
    coordinate.name = in.text();
    coordinate.long_name = in.text();
    coordinate.values = take_texts(in);
  }
  return axis;
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
  const auto bytes = std::as_writable_bytes(std::span(values));
  for (std::size_t done = 0; done < bytes.size(); done += part_bytes) {
    const auto part = bytes.subspan(done, std::min(part_bytes, bytes.size() - done));
    const auto sent = ranks.broadcast(std::vector<std::byte>(part.begin(), part.end()), 0);
    std::memcpy(part.data(), sent.data(), part.size());
  }
  return values;
}

}  // namespace

SharedScores::SharedScores(const Scores* own, const Workers& ranks) {
  if (ranks.size() == 1) {
    scores_ = *own;
    scores_.ranks = ranks;
    return;
  }
  base::ByteWriter out;
  if (own != nullptr) {
    for (const auto* axis : own->axes) {
      put(out, *axis);
    }
    out.number(std::uint8_t{own->poles != nullptr});
    if (own->poles != nullptr) {
      put(out, *own->poles);
    }
    out.number(std::uint8_t{static_cast<bool>(own->read_statuses)});
    out.number(std::uint64_t{own->num_rounds.value_or(no_rounds)});
  }
  const auto bytes = ranks.broadcast(out.take(), 0);
  base::ByteReader in(bytes);
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    axes_[axis] = take_axis(in);
    scores_.axes[axis] = &axes_[axis];
  }
  const auto read_from = [ranks]<class Value>(const std::function<std::vector<Value>(std::size_t)>* read) {
    return [ranks, read](std::size_t measure) {
      return read_everywhere<Value>(ranks, read != nullptr ? *read : nullptr, measure);
    };
  };
  scores_.ranks = ranks;
  scores_.read = read_from(own != nullptr ? &own->read : nullptr);
  if (in.number<std::uint8_t>() != 0) {
    poles_ = take_axis(in);
    scores_.poles = &*poles_;
    scores_.read_poles = read_from(own != nullptr ? &own->read_poles : nullptr);
  }
  if (in.number<std::uint8_t>() != 0) {
    scores_.read_statuses = read_from(own != nullptr ? &own->read_statuses : nullptr);
  }
  if (const auto rounds = in.number<std::uint64_t>(); rounds != no_rounds) {
    scores_.num_rounds = rounds;
  }
}

}  // namespace stereosweep::findings
