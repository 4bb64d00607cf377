// A checkpoint's files for all ranks: small ones read once by rank 0 and broadcast, weights read once per node.
#pragma once

#include <filesystem>

#include "base/files/File.hpp"
#include "parallel/Communicator.hpp"

namespace stereosweep::parallel {

/// Where the weights lie while they are read: once in the memory of each node, or in the files alone, of which each
/// rank reads what it needs. The latter is for ranks that need a slice each: the node need not have room for the whole.
enum class WeightPlace { node_memory, files };

/// Collective over `world`. Small files: as rank 0 read them. Weight files in the node's memory: on a node with several
/// ranks each of them reads its share of the bytes into shared memory (a /dev/shm segment, unlinked at once), so every
/// byte is read once; with one rank, or without room in /dev/shm, every rank reads the files on its own. Throws on
/// every rank if any rank cannot read its part, or if a node sees another size than rank 0.
base::FileSet read_checkpoint_once(const Communicator& world, const std::filesystem::path& directory,
                                   base::CheckpointPart part, WeightPlace place = WeightPlace::node_memory);

}  // namespace stereosweep::parallel
