#include "parallel/NodeFiles.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <tuple>
#include <utility>

#include "base/Error.hpp"
#include "base/Packing.hpp"
#include "parallel/SharedMemory.hpp"

namespace stereosweep::parallel {
namespace {

using Sizes = std::vector<std::pair<std::string, std::uint64_t>>;  // of files, by name

constexpr std::uint64_t alignment = 64;
/// While one part travels between nodes a thread reads the next one.
constexpr std::uint64_t part_bytes = std::uint64_t{256} << 20;

std::uint64_t aligned(std::uint64_t size) { return (size + alignment - 1) / alignment * alignment; }

/// What rank 0 found.
struct Listing {
  std::vector<std::pair<std::string, std::string>> small_files;  ///< with their contents
  Sizes weights;
};
auto fields_of(base::Either<Listing> auto& listing) { return std::tie(listing.small_files, listing.weights); }

Listing list_files(const base::CheckpointPlace& checkpoint) {
  Listing found;
  const auto small_files = base::read_checkpoint_files(checkpoint, base::CheckpointPart::small_files);
  for (const auto& [name, content] : small_files.files()) {
    found.small_files.emplace_back(name, content.text());
  }
  for (const auto& [name, size] : base::list_checkpoint_files(checkpoint)) {
    if (base::is_weight_file(name)) {
      found.weights.emplace_back(name, size);
    }
  }
  return found;
}

base::SharedBytes open_sized(const std::filesystem::path& path, std::uint64_t size) {
  auto content = base::open_file(path);
  base::refuse_if(content.size() != size, path.string() + " has another size on this node",
                  "all nodes must see the same checkpoint");
  return content;
}

/// Of all files, laid end to end.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Copies this rank's share of the range into the segment: the ranks of a node read side by side.
void fill_share(const Communicator& node, const base::CheckpointPlace& checkpoint, const Sizes& weights, Range range,
                std::byte* segment) {
  const auto border = [&](int rank) {
    const auto size = range.end - range.begin;
    return rank == node.size() ? range.end : range.begin + size / alignment * rank / node.size() * alignment;
  };
  const auto begin = border(node.rank());
  const auto end = border(node.rank() + 1);
  std::uint64_t start = 0;  // of the file
  for (const auto& [file, size] : weights) {
    const auto first = std::max(begin, start);
    const auto last = std::min(end, start + size);
    if (first < last) {
      open_sized(checkpoint.path_of(file), size).read(first - start, {segment + first, last - first});
    }
    start += aligned(size);
  }
}

/// Collective over `world`. The ranks of the first node that has a segment (not null) read, the first ranks of the
/// others get the bytes from there. So all nodes hold one checkpoint, whatever each of them sees of the file system.
void fill_nodes(const Communicator& world, const Communicator& node, const base::CheckpointPlace& checkpoint,
                const Sizes& weights, std::uint64_t total, std::byte* segment) {
  const bool receives = segment != nullptr && node.rank() == 0;
  const auto nodes = world.split(receives ? 0 : 1);
  const bool reads = node.broadcast(receives && nodes.rank() == 0, 0);
  const auto part_at = [&](std::uint64_t begin) { return Range{begin, std::min(begin + part_bytes, total)}; };
  std::future<void> reading;
  const auto read = [&](std::uint64_t begin) {
    const auto share = [&, range = part_at(begin)] { fill_share(node, checkpoint, weights, range, segment); };
    if (reads && begin < total) {
      reading = std::async(std::launch::async | std::launch::deferred, share);
    }
  };
  read(0);
  for (std::uint64_t begin = 0; begin < total; begin += part_bytes) {
    coordinated(world, "read_weights", [&] {
      if (reads) {
        reading.get();
      }
    });
    read(begin + part_bytes);
    if (receives) {
      const auto part = part_at(begin);
      nodes.broadcast_into({segment + part.begin, part.end - part.begin}, 0);
    }
  }
}

}  // namespace

Checkpoint read_checkpoint_once(const Communicator& world, const Communicator& node,
                                const base::CheckpointPlace& checkpoint, base::CheckpointPart part, WeightPlace place) {
  base::FileSet files(checkpoint.model.string());
  auto listing = coordinated(world, [&] { return world.rank() == 0 ? list_files(checkpoint) : Listing(); });
  listing = world.broadcast(std::move(listing), 0);
  for (auto& [name, content] : listing.small_files) {
    files.add(name, base::to_shared(std::move(content)));
  }
  const auto& weights = listing.weights;
  if (part == base::CheckpointPart::small_files) {
    return {std::move(files), world};
  }
  std::uint64_t total = 0;
  for (const auto& [name, size] : weights) {
    total += aligned(size);
  }
  const bool wanted = place == WeightPlace::kept_memory || (world.size() > 1 && place == WeightPlace::node_memory);
  const auto memory = share_memory(world, node, wanted ? total : 0);
  const bool shared = memory != nullptr;
  if (world.any(shared)) {
    fill_nodes(world, node, checkpoint, weights, total, memory.get());
  }
  coordinated(world, [&] {
    base::fail_if(shared && ::mprotect(memory.get(), total, PROT_READ) != 0,
                  "cannot protect memory that the ranks of the node share", std::strerror(errno));
    const auto* next = memory.get();
    for (const auto& [name, size] : weights) {
      if (shared) {
        files.add(name, {memory, {next, size}, base::SharedBytes::Backing::mapping});
        next += aligned(size);
      } else {
        files.add(name, open_sized(checkpoint.path_of(name), size));
      }
    }
  });
  const int first_of_node = node.broadcast(world.rank(), 0);
  return {std::move(files), world.split(shared ? 0 : 1 + first_of_node)};
}

}  // namespace stereosweep::parallel
