#include "run/Protocol.hpp"

#include <cstring>

#include "base/Bytes.hpp"

namespace stereosweep::run {

std::vector<std::byte> encode(const Scored& scored) {
  base::ByteWriter out;
  out.raw(std::as_bytes(std::span(scored.id.key))).number(scored.id.block_index).number(scored.id.num_contexts);
  out.number(scored.id.cost.queries).number(scored.id.cost.distinct_sequences).number(scored.id.cost.distinct_tokens);
  out.number(scored.id.cost.head_rows).number(scored.seconds).raw(scored.payload);
  return out.take();
}

Scored decode_scored(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  Scored scored;
  std::memcpy(scored.id.key.data(), in.take(scored.id.key.size()).data(), scored.id.key.size());
  scored.id.block_index = in.number<std::uint64_t>();
  scored.id.num_contexts = in.number<std::uint64_t>();
  scored.id.cost.queries = in.number<std::uint64_t>();
  scored.id.cost.distinct_sequences = in.number<std::uint64_t>();
  scored.id.cost.distinct_tokens = in.number<std::uint64_t>();
  scored.id.cost.head_rows = in.number<std::uint64_t>();
  scored.seconds = in.number<double>();
  scored.payload.assign(in.rest().begin(), in.rest().end());
  return scored;
}

std::string StopOrder::state() const {
  switch (exit_code) {
    case base::ExitCode::done:
      return "done";
    case base::ExitCode::resume:
      return "stopped";
    default:
      return lost ? "lost" : "failed";
  }
}

std::vector<std::byte> encode(const StopOrder& order) {
  return base::ByteWriter().number(static_cast<std::int32_t>(order.exit_code)).text(order.cause).take();
}

StopOrder decode_stop(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  const auto exit_code = static_cast<base::ExitCode>(in.number<std::int32_t>());
  return {exit_code, in.text()};
}

std::vector<std::byte> encode_number(std::uint64_t number) { return base::ByteWriter().number(number).take(); }

std::uint64_t decode_number(std::span<const std::byte> bytes) {
  return base::ByteReader(bytes).number<std::uint64_t>();
}

}  // namespace stereosweep::run
