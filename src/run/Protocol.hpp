// What ranks say to each other while blocks are scored.
//   rank 0 -> worker   grant {block}   finish   stop {status, cause}   ping
//   worker -> rank 0   result {Scored}   failed {status, text}   signalled {number}   pong   bye
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "run/Scorer.hpp"

namespace stereosweep::run {

enum class MessageKind : std::uint32_t { grant = 1, finish, stop, ping, result, failed, signalled, pong, bye };

/// Why the ranks stop before all is done.
struct StopOrder {
  base::ExitCode exit_code = base::ExitCode::error;
  std::string cause;
  bool lost = false;  ///< rank zero's own knowledge, not sent: a rank is gone or hangs

  /// The word for it in status.json: done, stopped, lost or failed.
  std::string state() const;
};

std::vector<std::byte> encode(const Scored& scored);
Scored decode_scored(std::span<const std::byte> bytes);
std::vector<std::byte> encode(const StopOrder& order);
StopOrder decode_stop(std::span<const std::byte> bytes);
std::vector<std::byte> encode_number(std::uint64_t number);
std::uint64_t decode_number(std::span<const std::byte> bytes);

}  // namespace stereosweep::run
