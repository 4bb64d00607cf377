// Columns of a raw block are found by the names of their cubes.
#include <gmock/gmock.h>

#include "base/Error.hpp"
#include "probes/Probe.hpp"

namespace stereosweep::probes {
namespace {

TEST(Columns, ACubeIsFoundByItsNameAndType) {
  results::RawSchema schema;
  schema.cubes = {cube("status", results::ElementType::uint8, {}, "", "", "", {"ok", "failed"}),
                  cube("logprob", results::ElementType::float64, {}, "nat", "")};
  results::RawBlock block{{std::vector<std::uint8_t>{0, 1}, std::vector<double>{-1, -2}}};
  EXPECT_THAT(column_named<double>(block, schema, "logprob"), ::testing::ElementsAre(-1, -2));
  column_named<std::uint8_t>(block, schema, "status")[0] = 1;
  EXPECT_EQ(block.columns[0], results::RawColumn(std::vector<std::uint8_t>{1, 1}));
  EXPECT_THAT(meanings_of(schema, "status"), ::testing::ElementsAre("ok", "failed"));
  EXPECT_THROW(column_named<std::int32_t>(block, schema, "logprob"), base::InputError);
  EXPECT_THROW(column_named<double>(block, schema, "rating"), base::InputError);
  EXPECT_THROW(meanings_of(schema, "rating"), base::InputError);
}

}  // namespace
}  // namespace stereosweep::probes
