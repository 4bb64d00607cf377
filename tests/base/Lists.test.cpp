#include "base/Lists.hpp"

#include <gmock/gmock.h>

#include <string>

namespace stereosweep::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Row {
  std::string name;
  std::vector<int> numbers;
};

TEST(Lists, AreMadeOfOthers) {
  const std::vector<Row> rows = {{"one", {1, 2}}, {"none", {}}, {"two", {2}}};
  EXPECT_THAT(mapped(rows, &Row::name), ElementsAre("one", "none", "two"));
  EXPECT_THAT(mapped(rows, [](const Row& row) { return row.numbers.size(); }), ElementsAre(2U, 0U, 1U));
  EXPECT_THAT(joined(rows, &Row::numbers), ElementsAre(1, 2, 2));
  EXPECT_THAT(joined(std::vector<std::vector<int>>{{3}, {}, {1}}), ElementsAre(3, 1));
  EXPECT_THAT(joined(std::vector<Row>(), &Row::numbers), IsEmpty());
  EXPECT_THAT(filtered(std::vector{3, 4, 6}, [](int number) { return number % 2 == 0; }), ElementsAre(4, 6));
}

TEST(Lists, OfPlaces) {
  EXPECT_THAT(places_below(3), ElementsAre(0U, 1U, 2U));
  EXPECT_THAT(places_below(0), IsEmpty());
  EXPECT_THAT(places_where(5, [](std::size_t place) { return place % 3 == 1; }), ElementsAre(1U, 4U));
}

TEST(Lists, TakeAValueOnce) {
  std::vector<std::string> names = {"b"};
  for (const char* name : {"a", "b", "a"}) {
    add_once(names, std::string(name));
  }
  EXPECT_THAT(names, ElementsAre("b", "a"));
  EXPECT_TRUE(contains(names, "a"));
  EXPECT_FALSE(contains(names, "c"));
}

}  // namespace
}  // namespace stereosweep::base
