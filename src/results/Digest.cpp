#include "results/Digest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/Check.hpp"
#include "results/Reader.hpp"

namespace stereosweep::results {

namespace {

constexpr std::uint64_t canonical_nan = 0x7ff8000000000000;
constexpr std::uint32_t canonical_single_nan = 0x7fc00000;
constexpr std::uint64_t read_bytes = std::uint64_t{8} << 20;

void feed(base::Sha256& hash, const std::vector<double>& values) {
  if (std::none_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
    hash.update(std::as_bytes(std::span(values)));
    return;
  }
  std::vector<std::uint64_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(),
                 [](double value) { return std::isnan(value) ? canonical_nan : std::bit_cast<std::uint64_t>(value); });
  hash.update(std::as_bytes(std::span(bits)));
}

void feed(base::Sha256& hash, const std::vector<float>& values) {
  std::vector<std::uint32_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), [](float value) {
    return std::isnan(value) ? canonical_single_nan : std::bit_cast<std::uint32_t>(value);
  });
  hash.update(std::as_bytes(std::span(bits)));
}

void feed(base::Sha256& hash, const std::vector<std::int32_t>& values) {
  hash.update(std::as_bytes(std::span(values)));
}

void feed(base::Sha256& hash, const std::vector<std::uint8_t>& values) {
  hash.update(std::as_bytes(std::span(values)));
}

void feed(base::Sha256& hash, const std::vector<std::string>& values) {
  for (const auto& value : values) {
    hash.field(value);
  }
}

}  // namespace

RawDigest::RawDigest(const RawSchema& schema) : hashes_(schema.cubes.size()) {
  for (const auto& cube : schema.cubes) {
    names_.push_back(cube.name);
    types_.push_back(cube.type);
  }
}

void RawDigest::add(const RawBlock& contexts) {
  STEREOSWEEP_ASSERT(contexts.columns.size() == hashes_.size(), "a block has other cubes than its schema");
  for (std::size_t index = 0; index < hashes_.size(); ++index) {
    std::visit([&](const auto& values) { feed(hashes_[index], values); }, contexts.columns[index]);
  }
}

base::Digest RawDigest::finish() {
  std::vector<std::size_t> order(names_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto left, auto right) { return names_[left] < names_[right]; });
  base::Sha256 all;
  for (const auto index : order) {
    all.field(names_[index]).number(static_cast<std::uint64_t>(types_[index]));
    const auto digest = hashes_[index].finish();
    all.update(std::as_bytes(std::span(digest)));
  }
  return all.finish();
}

base::Digest digest_of_blocks(const RawSchema& schema, const sweep::BlockPlan& blocks, const BlockSource& source) {
  const auto full = with_not_scored(schema);
  RawDigest digest(full);
  for (std::uint64_t index = 0; index < blocks.num_blocks(); ++index) {
    const auto block = blocks.block(index);
    const auto raw = source(block);
    digest.add(raw.has_value() ? *raw : unscored_block(full, block.num_contexts));
  }
  return digest.finish();
}

base::Digest digest_of_file(const ResultFile& file) {
  RawDigest digest(file.schema());
  const auto step = file.contexts_within(read_bytes);
  for (std::uint64_t first = 0; first < file.num_contexts(); first += step) {
    digest.add(file.read(first, std::min(step, file.num_contexts() - first)));
  }
  return digest.finish();
}

}  // namespace stereosweep::results
