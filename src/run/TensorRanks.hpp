// Ranks that hold one model together (execution.tensor_parallel): a group counts as one rank for everybody else.
//   rank 0 of a group   asks for blocks, scores and sends as any rank does
//   the others          score the same blocks in step, because their slices are needed; their numbers are dropped
#pragma once

#include <memory>

#include "parallel/Communicator.hpp"
#include "parallel/TensorGroup.hpp"
#include "run/Protocol.hpp"

namespace stereosweep::run {

class TensorRanks {
 public:
  /// Collective over `world`. Neighbours on a node form groups. Throws InputError on all ranks where some node's ranks
  /// cannot be grouped so.
  TensorRanks(const parallel::Communicator& world, int ranks_per_group);

  /// The rank asks for blocks: rank 0 of its group.
  bool leads() const { return group_.rank() == 0; }
  /// Leaders only: themselves, in world order; `world` itself without groups.
  const parallel::Communicator& leaders() const { return leaders_; }
  /// Null without groups.
  const std::shared_ptr<parallel::TensorGroup>& tensors() const { return tensors_; }

  /// How the leader's scoring ended: `given_up` leaves the others in the middle of a block.
  enum class Work { ended, given_up };
  /// Leader: nothing follows, and this is why. Collective over the group.
  void dismiss(const StopOrder& order, Work work) const;
  /// Others: sleeps until the leader dismisses, and returns its order. Collective over the group.
  StopOrder wait_for_dismissal() const;

 private:
  parallel::Communicator group_;
  parallel::Communicator leaders_;
  std::shared_ptr<parallel::TensorGroup> tensors_;
};

}  // namespace stereosweep::run
