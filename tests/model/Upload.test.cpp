// Weights on their way to a device: the same numbers, and no copy that the host waits for. The device is
// support/FakeDevice.hpp, which does copies late.

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/SafetensorsText.hpp"
#include "model/checkpoint/TensorReader.hpp"
#include "support/FakeDevice.hpp"

namespace stereosweep::model {
namespace {

constexpr std::int64_t rows = 2500;
constexpr std::int64_t columns = 1200;  // 12 MB of float32: three pieces

StoredTensors stored() {
  std::vector<float> numbers(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i);
  }
  const auto data = testing::floats(numbers);
  const auto header = "{" + testing::entry_of("x", "F32", "[2500,1200]", 0, data.size()) + "}";
  return parse_safetensors(base::to_shared(testing::file_of(header, data)), "x.safetensors");
}

TEST(Upload, BringsTheSameNumbersWithoutACopyThatWaits) {
  const c10::InferenceMode guard;
  const auto device = stereosweep::testing::fake_device();
  const auto whole = at::arange(rows * columns, at::kFloat).view({rows, columns});
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    TensorReader reader(stored(), "here", at::TensorOptions(device).dtype(type));
    stereosweep::testing::reset_device_counts();
    const auto all = reader.take("x", {rows, columns});
    const auto part = reader.take_cut("x", {rows, columns}, {{{10, 2000}}, {{7, 1100}}});
    const auto counts = stereosweep::testing::device_counts();
    EXPECT_EQ(counts.waiting_uploads, 0);
    EXPECT_EQ(counts.waiting_downloads, 0);
    EXPECT_GE(counts.non_blocking_copies, 5);  // each is larger than two pieces
    EXPECT_LT(counts.synchronisations, counts.non_blocking_copies) << "one for each copy that another one follows";
    EXPECT_EQ(all.device().type(), device.type());
    EXPECT_TRUE(at::equal(all.cpu(), whole.to(type)));
    EXPECT_TRUE(at::equal(part.cpu(), whole.narrow(0, 10, 2000).narrow(1, 7, 1100).to(type)));
  }
}

}  // namespace
}  // namespace stereosweep::model
