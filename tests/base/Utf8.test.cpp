#include "base/text/Utf8.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/text/Text.hpp"

namespace stereosweep::base {
namespace {

using ::testing::ElementsAre;

TEST(WhiteSpace, IsPythons) {
  const auto is_space = [](char32_t value) {
    std::string text = "x";
    append_utf8(text, value);
    return size_without_trailing_space(text) == 1;
  };
  std::vector<char32_t> spaces;
  for (char32_t value = 1; value < 0x110000; ++value) {
    if ((value < 0xD800 || value > 0xDFFF) && is_space(value)) {
      spaces.push_back(value);
    }
  }
  // python3 -c 'print([hex(c) for c in range(0x110000) if chr(c).isspace()])'
  EXPECT_THAT(spaces, ElementsAre(0x9, 0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000,
                                  0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a,
                                  0x2028, 0x2029, 0x202f, 0x205f, 0x3000));
  EXPECT_EQ(size_without_trailing_space(" \xC2\x85 "), 0U);
  EXPECT_EQ(size_without_trailing_space(""), 0U);
  EXPECT_EQ(size_without_trailing_space("\xA0"), 1U);  // no UTF-8
}

TEST(WhiteSpace, IsStrippedAsPythonDoes) {
  EXPECT_EQ(strip(" \t\n\x0b\x0c\r\x1c\x1f\xc2\x85\xc2\xa0\xe3\x80\x80"), "");
  EXPECT_EQ(strip(" a b\xe2\x80\xa8"), "a b");
  EXPECT_EQ(strip("\xe2\x80\x8b a \xe2\x80\x8b"), "\xe2\x80\x8b a \xe2\x80\x8b") << "a zero-width space is no space";
  EXPECT_EQ(strip(""), "");
}

}  // namespace
}  // namespace stereosweep::base
