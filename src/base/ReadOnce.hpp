// Reading bytes once, front to back, without keeping a mapping's pages resident behind the reader.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "base/File.hpp"

namespace stereosweep::base {

/// Calls `use(part)` for consecutive pieces of `bytes` and releases each piece's pages afterwards, so that a checkpoint
/// and what is made of it are not both resident.
template <class Use>
void read_once(std::span<const std::byte> bytes, SharedBytes::Backing backing, const Use& use) {
  constexpr std::size_t piece = std::size_t{16} << 20;
  for (std::size_t done = 0; done < bytes.size(); done += piece) {
    const auto part = bytes.subspan(done, std::min(piece, bytes.size() - done));
    use(part);
    release_pages(part, backing);
  }
}

/// Copies `bytes` to `out`, which has room for them; neither side need be aligned.
inline void copy_once(std::span<const std::byte> bytes, SharedBytes::Backing backing, std::byte* out) {
  read_once(bytes, backing, [&](std::span<const std::byte> part) {
    std::memcpy(out, part.data(), part.size());
    out += part.size();
  });
}

}  // namespace stereosweep::base
