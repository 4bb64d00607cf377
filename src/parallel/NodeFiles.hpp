// A checkpoint's files for all ranks: small ones read once by rank 0 and broadcast, weights read once.
#pragma once

#include <filesystem>

#include "base/files/File.hpp"
#include "parallel/Communicator.hpp"

namespace stereosweep::parallel {

/// Where the weights lie while they are read: once in the memory of each node, or in the files alone, of which each
/// rank reads what it needs. The latter is for ranks that need a slice each: the node need not have room for the whole.
enum class WeightPlace { node_memory, files };

/// Collective over `world`; `node`: those of its ranks that share this rank's memory. Small files: as rank 0 read them.
/// Weight files in the node's memory: nodes with several ranks each have a copy that these share (a /dev/shm segment,
/// unlinked at once). The ranks of the first such node read it, each its share, so that every byte is read once; the
/// others get it from that node. On a node with one rank, or without room in /dev/shm, every rank reads the files on
/// its own. What arrived is not checked here: `run` hashes the files as each node has them. Throws on every rank if any
/// rank cannot read its part, or if one that reads on its own sees another size than rank 0.
base::FileSet read_checkpoint_once(const Communicator& world, const Communicator& node,
                                   const std::filesystem::path& directory, base::CheckpointPart part,
                                   WeightPlace place = WeightPlace::node_memory);

}  // namespace stereosweep::parallel
