#include "results/Seal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/files/Sha256.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::results {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class SealTest : public ::testing::Test {
 protected:
  void write(const std::string& content) { std::ofstream(path_, std::ios::binary) << content; }
  std::string sealed(const std::string& content) {
    base::PendingFile pending(path_);
    pending.write(content);
    commit_sealed(pending);
    return base::read_file(path_);
  }
  testing::TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "a.h5";
};

TEST_F(SealTest, IsOneLineOf128BytesWithTheContentsHash) {
  const std::string content(3'000'000, 'x');
  const auto whole = sealed(content);
  EXPECT_EQ(whole.substr(content.size()), "stereosweep-seal/1 sha256=" + base::to_hex(base::sha256(content)) +
                                              " bytes=0000000003000000 end-of-result\n");
  EXPECT_EQ(whole.size(), content.size() + 128);
  EXPECT_EQ(check_seal(path_), Seal::intact);
}

TEST_F(SealTest, EveryFlippedBitIsSeen) {
  const auto whole = sealed("some numbers");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    write(changed);
    EXPECT_THAT([&] { check_seal(path_); }, ThrowsMessage<base::InputError>(HasSubstr("is damaged"))) << at;
  }
}

TEST_F(SealTest, BytesThatAreMissingInFrontAreSeen) {
  const auto whole = sealed("some numbers");
  for (std::size_t from = 1; from <= 12; ++from) {
    write(whole.substr(from));
    EXPECT_THROW(check_seal(path_), base::InputError) << from;
  }
}

TEST_F(SealTest, AFileWithoutOneHasNone) {
  for (const auto* content : {"", "short", "\x89HDF\r\n\x1a\n"}) {
    write(content);
    EXPECT_EQ(check_seal(path_), Seal::none);
  }
  write(std::string(500, 'x'));
  EXPECT_EQ(check_seal(path_), Seal::none);
}

TEST_F(SealTest, WhatIsNoFileIsRefused) {
  EXPECT_THAT([&] { check_seal(directory_.path()); }, ThrowsMessage<base::InputError>(HasSubstr("no regular file")));
  EXPECT_THROW(check_seal(directory_ / "absent"), base::InputError);
}

}  // namespace
}  // namespace stereosweep::results
