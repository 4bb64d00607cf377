// block_key: equal content and fingerprint give equal keys, and nothing else does.
#include <gtest/gtest.h>

#include "probe/Probe.hpp"

namespace stereosweep::probe {
namespace {

class OneText : public Probe {
 public:
  explicit OneText(std::string text) : text_(std::move(text)), blocks_(plan::Product({2, 3}), 2) {}
  const RawSchema& schema() const override { return schema_; }
  const plan::BlockPlan& blocks() const override { return blocks_; }
  Round first(const plan::Block&) const override { return {}; }
  std::optional<Round> next(const plan::Block&, const Transcript&) const override { return std::nullopt; }
  RawBlock fold(const plan::Block&, const Transcript&) const override { return {}; }
  void hash_content(const plan::Block&, base::Sha256& hash) const override { hash.field(text_); }

 private:
  std::string text_;
  RawSchema schema_;
  plan::BlockPlan blocks_;
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
}  // namespace stereosweep::probe
