#include "results/Digest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/Check.hpp"
#include "results/Reader.hpp"

namespace stereosweep::results {

namespace {

static_assert(std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()) == 0x7ff8000000000000);
static_assert(std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN()) == 0x7fc00000);
constexpr std::uint64_t read_bytes = std::uint64_t{8} << 20;

template <class T>
void feed(base::Sha256& hash, const std::vector<T>& values) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::ranges::any_of(values, [](T value) { return std::isnan(value); })) {
      auto canonical = values;
      std::ranges::replace_if(
          canonical, [](T value) { return std::isnan(value); }, std::numeric_limits<T>::quiet_NaN());
      hash.update(std::as_bytes(std::span(canonical)));
      return;
    }
  }
  hash.update(std::as_bytes(std::span(values)));
}

void feed(base::Sha256& hash, const std::vector<std::string>& values) {
  for (const auto& value : values) {
    hash.field(value);
  }
}

}  // namespace

void RawDigest::add(const RawBlock& contexts) {
  STEREOSWEEP_ASSERT(contexts.columns.size() == hashes_.size(), "a block has other cubes than its schema");
  for (std::size_t index = 0; index < hashes_.size(); ++index) {
    std::visit([&](const auto& values) { feed(hashes_[index], values); }, contexts.columns[index]);
  }
}

base::Digest RawDigest::finish() {
  std::vector<std::size_t> order(cubes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto left, auto right) { return cubes_[left].name < cubes_[right].name; });
  base::Sha256 all;
  for (const auto index : order) {
    all.field(cubes_[index].name).number(static_cast<std::uint64_t>(cubes_[index].type));
    const auto digest = hashes_[index].finish();
    all.update(std::as_bytes(std::span(digest)));
  }
  return all.finish();
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
