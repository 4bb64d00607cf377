// A checkpoint's files for all ranks: small ones read once by rank 0 and broadcast, weights read once.
#pragma once

#include "base/files/File.hpp"
#include "parallel/Communicator.hpp"

namespace stereosweep::parallel {

/// Where a node has the weights while they are read: once in its memory, or in the files alone, of which each of its
/// ranks reads what it needs. The latter is for nodes that have no room for the whole beside what their ranks hold.
/// kept_memory: node_memory, also for a rank without others, because several jobs read them.
enum class WeightPlace { node_memory, kept_memory, files };

struct Checkpoint {
  base::FileSet files;
  /// The ranks that got the same bytes from one reading, this one among them: a hash by one of them is that of all.
  Communicator sharers;
};

/// Collective over `world`; `node`: those of its ranks that share this rank's memory. Small files: as rank 0 read them.
/// Weight files in the node's memory: a copy that its ranks share (a /dev/shm segment, unlinked at once). The ranks of
/// the first such node read it, each its share, so that every byte is read once; the others get it from that node. On a
/// node that asks for the files, or without room in /dev/shm, every rank reads them on its own; so does, with
/// node_memory, a rank without others. What arrived is not checked here, but by `run`, which hashes it. Throws on every
/// rank if any rank cannot read its part, or if one that reads on its own sees another size than rank 0.
Checkpoint read_checkpoint_once(const Communicator& world, const Communicator& node,
                                const base::CheckpointPlace& checkpoint, base::CheckpointPart part,
                                WeightPlace place = WeightPlace::node_memory);

}  // namespace stereosweep::parallel
