#include "run/TensorRanks.hpp"

#include <string>

#include "base/Error.hpp"

namespace stereosweep::run {

TensorRanks::TensorRanks(const parallel::Communicator& world, int ranks_per_group) : leaders_(world) {
  if (ranks_per_group == 1) {
    return;
  }
  const auto node = world.node();
  parallel::coordinated(world, [&] {
    if (node.size() % ranks_per_group != 0) {
      throw base::InputError(
          base::describe("tensor_parallel: " + std::to_string(ranks_per_group) + " on a node with " +
                             std::to_string(node.size()) + (node.size() == 1 ? " rank" : " ranks"),
                         "a model's slices lie on one node",
                         "start a multiple of that many ranks per node, or change execution.tensor_parallel"));
    }
  });
  group_ = node.split(node.rank() / ranks_per_group);
  leaders_ = world.split(leads() ? 0 : 1);
  tensors_ = std::make_shared<parallel::TensorGroup>(world, group_);
}

void TensorRanks::dismiss(const StopOrder& order, Work work) const {
  if (!tensors_) {
    return;
  }
  tensors_->close();
  if (work == Work::given_up) {
    tensors_->fail(order.cause.empty() ? "the block in work was given up" : order.cause);
  }
  group_.broadcast_at_the_end(encode(order), 0);
}

StopOrder TensorRanks::wait_for_dismissal() const { return decode_stop(group_.broadcast_at_the_end({}, 0)); }

}  // namespace stereosweep::run
