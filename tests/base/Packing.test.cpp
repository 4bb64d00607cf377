#include "base/Packing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace stereosweep::base {
namespace {

struct PackedRow {
  std::string name;
  std::uint64_t count = 0;
  std::vector<std::string> words;
  bool operator==(const PackedRow&) const = default;
};

struct PackedTable {
  std::array<PackedRow, 2> ends;
  std::vector<PackedRow> rows;
  std::vector<double> numbers;
  bool operator==(const PackedTable&) const = default;
};

auto fields_of(Either<PackedRow> auto& row) { return std::tie(row.name, row.count, row.words); }
auto fields_of(Either<PackedTable> auto& table) { return std::tie(table.ends, table.rows, table.numbers); }

TEST(Packing, ReadsWhatItWrote) {
  const PackedTable table{{PackedRow{"first", 1, {"a"}}, {"last", 2, {}}}, {{"", 3, {"b", "c"}}}, {0.5, -1}};
  ByteWriter out;
  pack(out, table);
  PackedTable read{{}, {{"stale", 9, {}}}, {}};
  ByteReader in(out.bytes());
  unpack(in, read);
  EXPECT_EQ(read, table);
  EXPECT_TRUE(in.done());
}

TEST(Packing, HasTheEncodingOfByteWriter) {
  const std::string text = "text";
  const std::uint64_t number = 7;
  const std::vector<std::uint32_t> list = {1, 2};
  const auto bytes = packed(std::tie(text, number, list));
  EXPECT_EQ(bytes, ByteWriter().text(text).number(number).array(std::span(list)).take());
}

TEST(Packing, TuplesArePackedMemberByMember) {
  const std::tuple<std::string, std::pair<int, std::vector<std::string>>> value{"text", {7, {"a", "b"}}};
  const auto bytes = packed(value);
  EXPECT_EQ(unpacked<std::remove_const_t<decltype(value)>>(bytes), value);
  EXPECT_EQ(bytes, ByteWriter().text("text").number(7).number(std::uint64_t{2}).text("a").text("b").take());
}

TEST(Packing, AListThatIsTooLongEndsWithTheBytes) {
  const auto bytes = ByteWriter().number(std::uint64_t{1} << 40U).text("one").take();
  std::vector<std::string> texts;
  EXPECT_THROW(unpack(bytes, std::tie(texts)), Error);
}

}  // namespace
}  // namespace stereosweep::base
