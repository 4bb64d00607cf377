#include "base/Bytes.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace stereosweep::base {
namespace {

TEST(Bytes, RoundTripKeepsEveryKindOfField) {
  ByteWriter out;
  const std::vector<double> values = {0.1, -0.0, 1e308};
  out.number(std::int32_t{-7}).text("Zoë").array<double>(values).number(std::uint8_t{255});
  const auto bytes = out.take();
  ByteReader in(bytes);
  EXPECT_EQ(in.number<std::int32_t>(), -7);
  EXPECT_EQ(in.text(), "Zoë");
  EXPECT_EQ(in.array<double>(), values);
  EXPECT_EQ(in.number<std::uint8_t>(), 255);
  EXPECT_TRUE(in.done());
}

TEST(Bytes, EveryTruncationOfARecordIsAnError) {
  ByteWriter out;
  out.text("abc").array<std::int32_t>(std::vector<std::int32_t>{1, 2, 3});
  const auto bytes = out.take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader in(std::span<const std::byte>(bytes).first(size));
    EXPECT_THROW((in.text(), in.array<std::int32_t>()), Error) << size;
  }
}

TEST(Bytes, ALengthBeyondTheRecordAllocatesNothing) {
  ByteWriter out;
  out.number(~std::uint64_t{0});
  const auto bytes = out.take();
  EXPECT_THROW(ByteReader(bytes).array<double>(), Error);
  EXPECT_THROW(ByteReader(bytes).text(), Error);
}

}  // namespace
}  // namespace stereosweep::base
