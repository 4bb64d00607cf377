// block_key: equal content and fingerprint give equal keys, and nothing else does.
#include <gtest/gtest.h>

#include "probes/Probe.hpp"

namespace stereosweep::probes {
namespace {

class OneText : public Probe {
 public:
  explicit OneText(std::string text) : text_(std::move(text)), blocks_(sweep::Product({2, 3}), 2) {}
  const results::RawSchema& schema() const override { return schema_; }
  const sweep::BlockPlan& blocks() const override { return blocks_; }
  Round first(const sweep::Block&) const override { return {}; }
  std::optional<Round> next(const sweep::Block&, const Transcript&) const override { return std::nullopt; }
  results::RawBlock fold(const sweep::Block&, const Transcript&) const override { return {}; }
  void hash_content(const sweep::Block&, base::Sha256& hash) const override { hash.field(text_); }

 private:
  std::string text_;
  results::RawSchema schema_;
  sweep::BlockPlan blocks_;
};

TEST(BlockKey, DependsOnContentFingerprintAndSizeOnly) {
  const OneText probe("a");
  const OneText other("b");
  const base::Digest first{1};
  const base::Digest second{2};
  const auto block = probe.blocks().block(0);
  EXPECT_EQ(block_key(probe, block, first), block_key(OneText("a"), block, first));
  EXPECT_EQ(block_key(probe, block, first), block_key(probe, probe.blocks().block(2), first)) << "place is no content";
  EXPECT_NE(block_key(probe, block, first), block_key(other, block, first));
  EXPECT_NE(block_key(probe, block, first), block_key(probe, block, second));
  EXPECT_NE(block_key(probe, block, first), block_key(probe, probe.blocks().block(1), first)) << "number of contexts";
}

}  // namespace
}  // namespace stereosweep::probes
