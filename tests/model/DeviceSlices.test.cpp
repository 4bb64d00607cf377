// Slices of a model on a device on 1, 2 and 4 ranks together against the whole model on the processor. The device is
// support/FakeDevice.hpp; the stand-in for NCCL (support/FakeNccl.hpp) adds up on it, in rank order.
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>

#include "model/SlicedModels.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/causal/CausalModel.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/SideStream.hpp"
#include "parallel/MpiSession.hpp"
#include "parallel/TensorGroup.hpp"
#include "support/FakeDevice.hpp"
#include "support/FakeNccl.hpp"

namespace stereosweep::model {
namespace {

using stereosweep::testing::device_counts;
using stereosweep::testing::fake_device;
using stereosweep::testing::reset_device_counts;
using stereosweep::testing::set_copy_order;

parallel::TensorGroup* adder = nullptr;

void add_up(float* numbers, std::size_t count, void* stream) {
  stereosweep::testing::run_on_device(
      "ncclAllReduce", numbers, count * sizeof(float),
      [=] {
        adder->sum({numbers, count});
      },
      stream);
}

class DeviceSlices : public ::testing::Test {
 protected:
  DeviceSlices() {
    adder = &sums_;
    fake_nccl_add_by(&add_up);
  }
  ~DeviceSlices() override {
    fake_nccl_add_by(nullptr);
    set_copy_order(0);
  }

  // Passes have 20 rows.
  void expect_same(const base::FileSet& files, at::ScalarType type, std::int64_t least_rows_of_halves = 2048) {
    const c10::InferenceMode guard;
    const auto specification = read_causal_specification(files);
    const TensorSlice slice{group_->rank(), group_->size()};
    PassSettings settings;
    settings.group = group_;
    settings.least_rows_of_halves = least_rows_of_halves;
    const auto sliced = make_causal_model(
        slice_of(specification, slice),
        load_causal_weights(files, specification, at::TensorOptions(fake_device()).dtype(type), slice), settings);
    const auto whole =
        make_causal_model(specification, load_causal_weights(files, specification, at::TensorOptions(type), {}));
    reset_device_counts();
    testing::expect_same(*sliced, *whole, type);
    // two passes, in each two sums a layer; four in halves, which overlap, but of the last layer's few rows
    const bool halves = least_rows_of_halves <= 20;
    const auto layers = sliced->shape().num_layers;
    EXPECT_EQ(device_counts().launches.at("ncclAllReduce"), 2 * (halves ? 4 * layers - 2 : 2 * layers));
    EXPECT_EQ(device_counts().side_launches, halves && SideStream::runs_beside ? 2 * 4 * (layers - 1) : 0);
    EXPECT_EQ(device_counts().synchronisations, 0);
    EXPECT_EQ(group_->failure(), "");
  }

 private:
  parallel::MpiSession session_;
  parallel::TensorGroup sums_{session_.world(), session_.world()};
  std::shared_ptr<parallel::TensorGroup> group_ =
      std::make_shared<parallel::TensorGroup>(session_.world(), session_.world());
};

TEST_F(DeviceSlices, LlamaEqualsTheWholeModel) {
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    expect_same(testing::llama(), type);
  }
}

// With 16 bits other experts may be chosen.
TEST_F(DeviceSlices, ExpertsEqualTheWholeModel) {
  expect_same(testing::mixtral(), at::kFloat);
  expect_same(testing::gpt_oss(), at::kFloat);
}

TEST_F(DeviceSlices, BiasesCountOnce) {
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    expect_same(testing::gpt2(), type);
  }
}

// Sums as late as they may be, and at moments of the device's own.
TEST_F(DeviceSlices, HalvesOfRowsWhoseSumsOverlapEqualTheWholeModel) {
  for (const std::uint64_t order : {0, 1, 2, 3}) {
    set_copy_order(order);
    for (const auto type : {at::kFloat, at::kBFloat16}) {
      for (const auto& files :
           {testing::llama(), testing::gpt2(), testing::granite(), testing::cohere2(), testing::gemma2()}) {
        expect_same(files, type, 20);
      }
    }
    expect_same(testing::mixtral(), at::kFloat, 20);
  }
}

}  // namespace
}  // namespace stereosweep::model
