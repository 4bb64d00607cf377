#include "run/ranks/Messages.hpp"

#include <cstring>
#include <type_traits>

#include "base/Bytes.hpp"

namespace stereosweep::run {

std::vector<std::byte> encode(const Scored& scored) {
  static_assert(std::has_unique_object_representations_v<results::BlockId>);
  return base::ByteWriter()
      .raw(std::as_bytes(std::span(&scored.id, 1)))
      .number(scored.seconds)
      .raw(scored.payload)
      .take();
}

Scored decode_scored(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  Scored scored;
  std::memcpy(&scored.id, in.take(sizeof(scored.id)).data(), sizeof(scored.id));
  scored.seconds = in.number<double>();
  scored.payload.assign(in.rest().begin(), in.rest().end());
  return scored;
}

std::string StopOrder::state() const {
  return exit_code == base::ExitCode::done     ? "done"
         : exit_code == base::ExitCode::resume ? "stopped"
         : lost                                ? "lost"
                                               : "failed";
}

std::vector<std::byte> encode(const StopOrder& order) {
  return base::ByteWriter().number(static_cast<std::int32_t>(order.exit_code)).text(order.cause).take();
}

StopOrder decode_stop(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  const auto exit_code = static_cast<base::ExitCode>(in.number<std::int32_t>());
  return {exit_code, in.text()};
}

}  // namespace stereosweep::run
