#include "hdf5/Chunks.hpp"

#include <hdf5.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <utility>

#include "base/Error.hpp"
#include "hdf5/File.hpp"

namespace stereosweep::hdf5 {

namespace {

/// How zlib treats a plane: its level (0: stored) and its strategy.
struct Treatment {
  int level = deflate_level;
  int strategy = Z_DEFAULT_STRATEGY;
};

/// Entropy of the bytes, in bits a byte.
double entropy_of(std::span<const std::uint8_t> plane) {
  std::array<std::uint32_t, 256> counts{};
  for (const auto byte : plane) {
    ++counts[byte];
  }
  const auto size = static_cast<double>(plane.size());
  double entropy = 0;
  for (const auto count : counts) {
    entropy -= count > 0 ? count / size * std::log2(count / size) : 0;
  }
  return entropy;
}

/// Whether one in ten of the runs of eight bytes that are looked at came before. The bytes choose which are: a run and
/// its repetition are both looked at, or neither.
bool has_repetitions(std::span<const std::uint8_t> plane) {
  std::array<std::uint64_t, 4096> seen{};
  std::size_t num_looked_at = 0;
  std::size_t num_repeated = 0;
  for (std::size_t place = 0; place + sizeof(std::uint64_t) <= plane.size(); ++place) {
    if (plane[place] % 16 == 0) {
      std::uint64_t run = 0;
      std::memcpy(&run, plane.data() + place, sizeof(run));
      auto& earlier = seen[(run * 0x9e3779b97f4a7c15) >> 52U];
      num_repeated += earlier == run ? 1 : 0;
      ++num_looked_at;
      earlier = run;
    }
  }
  return 10 * num_repeated > num_looked_at;
}

/// Searching the noise of a number's lower bytes for repetitions takes most of zlib's time and finds none.
Treatment treatment_of(std::span<const std::uint8_t> plane) {
  const auto entropy = entropy_of(plane);
  if (entropy < 5.5 || has_repetitions(plane)) {
    return {};
  }
  return {entropy > 7.9 ? 0 : deflate_level, Z_RLE};
}

/// A zlib stream under construction, in a buffer that holds whatever becomes of its bytes.
class Stream {
 public:
  Stream(std::size_t num_bytes, std::size_t num_planes) {
    if (deflateInit(&stream_, deflate_level) != Z_OK) {
      throw std::bad_alloc();
    }
    out_.resize(deflateBound(&stream_, num_bytes) + 64 * num_planes);  // each change of treatment ends a block
    stream_.next_out = out_.data();
    stream_.avail_out = static_cast<uInt>(out_.size());
  }
  ~Stream() { deflateEnd(&stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void add(std::span<const std::uint8_t> plane) {
    const auto treatment = treatment_of(plane);
    check(deflateParams(&stream_, treatment.level, treatment.strategy), Z_OK);
    stream_.next_in = const_cast<std::uint8_t*>(plane.data());  // zlib's interface; it only reads
    stream_.avail_in = static_cast<uInt>(plane.size());
    check(deflate(&stream_, Z_NO_FLUSH), Z_OK);
  }

  std::vector<std::uint8_t> finish() {
    check(deflate(&stream_, Z_FINISH), Z_STREAM_END);
    out_.resize(stream_.total_out);
    return std::move(out_);
  }

 private:
  static void check(int status, int expected) { STEREOSWEEP_ASSERT(status == expected, "zlib has room for a chunk"); }

  z_stream stream_{};
  std::vector<std::uint8_t> out_;
};

static_assert(std::endian::native == std::endian::little, "numbers lie in files as they lie in memory");

/// Copies `from` out of `source`, which holds `source_box`, to the start of `target`, whose axes have `lengths`. All
/// in coordinates of the array. What is contiguous in all three is copied at once.
void copy_box(const Rectangle& source_box, std::span<const std::uint8_t> source, const Rectangle& from,
              const Shape& lengths, std::uint64_t element_bytes, std::span<std::uint8_t> target) {
  auto last = lengths.size() - 1;
  auto run_bytes = element_bytes;
  for (; last > 0 && from.count[last] == source_box.count[last] && from.count[last] == lengths[last]; --last) {
    run_bytes *= lengths[last];
  }
  const std::function<void(std::size_t, std::uint64_t, std::uint64_t)> copy = [&](auto axis, auto read, auto written) {
    const auto first = read * source_box.count[axis] + from.start[axis] - source_box.start[axis];
    const auto place = written * lengths[axis];
    if (axis == last) {
      std::memcpy(target.data() + place * run_bytes, source.data() + first * run_bytes, from.count[axis] * run_bytes);
      return;
    }
    for (std::uint64_t index = 0; index < from.count[axis]; ++index) {
      copy(axis + 1, first + index, place + index);
    }
  };
  copy(0, 0, 0);
}

/// Bytes of one weight together: HDF5's filter "shuffle".
void shuffle(std::span<const std::uint8_t> values, std::uint64_t element_bytes, std::span<std::uint8_t> planes) {
  const auto count = values.size() / element_bytes;
  for (std::uint64_t byte = 0; byte < element_bytes; ++byte) {
    auto* plane = planes.data() + byte * count;
    const auto* value = values.data() + byte;
    for (std::uint64_t index = 0; index < count; ++index) {
      plane[index] = value[index * element_bytes];
    }
  }
}

/// Whether the array has these chunks and the two filters of `Group::create_dataset`, and nothing else.
bool is_shuffled_and_deflated(const DataSet& dataset, const Shape& chunk) {
  const Handle list(H5Dget_create_plist(dataset.id()), H5Pclose, "cannot read the layout of '" + dataset.name() + "'");
  std::vector<hsize_t> lengths(chunk.size());
  if (H5Pget_layout(list.id()) != H5D_CHUNKED ||
      H5Pget_chunk(list.id(), static_cast<int>(lengths.size()), lengths.data()) != static_cast<int>(chunk.size()) ||
      !std::ranges::equal(lengths, chunk) || H5Pget_nfilters(list.id()) != 2) {
    return false;
  }
  const auto filter = [&](unsigned index) {
    unsigned flags = 0;
    unsigned filter_flags = 0;
    std::size_t num_values = 0;
    return H5Pget_filter2(list.id(), index, &flags, &num_values, nullptr, 0, nullptr, &filter_flags);
  };
  return filter(0) == H5Z_FILTER_SHUFFLE && filter(1) == H5Z_FILTER_DEFLATE;
}

/// Rectangles of `whole` outside of `inner`, which lies in it and is not empty.
std::vector<Rectangle> around(const Rectangle& whole, const Rectangle& inner) {
  std::vector<Rectangle> found;
  auto rest = whole;
  for (std::size_t axis = 0; axis < whole.start.size(); ++axis) {
    const auto end = rest.start[axis] + rest.count[axis];
    const auto inner_end = inner.start[axis] + inner.count[axis];
    const auto add = [&](std::uint64_t first, std::uint64_t last) {
      if (first < last) {
        found.push_back(rest);
        found.back().start[axis] = first;
        found.back().count[axis] = last - first;
      }
    };
    add(rest.start[axis], inner.start[axis]);
    add(inner_end, end);
    rest.start[axis] = inner.start[axis];
    rest.count[axis] = inner.count[axis];
  }
  return found;
}

/// The whole chunks inside of `where`, as one rectangle; some count is 0 where there is none.
Rectangle covered_by(const Rectangle& where, const Shape& shape, const Shape& chunk) {
  Rectangle covered = where;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto first = (where.start[axis] + chunk[axis] - 1) / chunk[axis] * chunk[axis];
    const auto end = where.start[axis] + where.count[axis];
    const auto last = end == shape[axis] ? end : end / chunk[axis] * chunk[axis];
    covered.start[axis] = first;
    covered.count[axis] = last > first ? last - first : 0;
  }
  return covered;
}

/// The chunks of `covered`, in canonical order; those at an edge end there.
std::vector<Rectangle> chunks_of(const Rectangle& covered, const Shape& chunk) {
  std::vector<Rectangle> found = {covered};
  for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
    std::vector<Rectangle> cut;
    for (const auto& part : found) {
      const auto end = part.start[axis] + part.count[axis];
      for (auto first = part.start[axis]; first < end; first += chunk[axis]) {
        cut.push_back(part);
        cut.back().start[axis] = first;
        cut.back().count[axis] = std::min(chunk[axis], end - first);
      }
    }
    found = std::move(cut);
  }
  return found;
}

}  // namespace

std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> bytes, std::size_t plane) {
  STEREOSWEEP_ASSERT(plane > 0 && bytes.size() < std::numeric_limits<uInt>::max() / 2, "planes of a chunk");
  Stream stream(bytes.size(), bytes.size() / plane + 1);
  for (std::size_t first = 0; first < bytes.size(); first += plane) {
    stream.add(bytes.subspan(first, std::min(plane, bytes.size() - first)));
  }
  return stream.finish();
}

std::vector<std::uint8_t> part_of(const Rectangle& whole, std::span<const std::uint8_t> values, const Rectangle& from,
                                  std::uint64_t element_bytes) {
  std::vector<std::uint8_t> part(product(from.count) * element_bytes);
  copy_box(whole, values, from, from.count, element_bytes, part);
  return part;
}

ChunkCompressor::ChunkCompressor(const DataSet& dataset) : shape_(dataset.shape()), type_(dataset.type()) {
  if (shape_.empty() || product(shape_) == 0 || type_ == ElementType::text) {
    return;
  }
  const auto chunk = canonical_chunk(shape_, element_size(type_), chunk_bytes);
  if (is_shuffled_and_deflated(dataset, chunk)) {
    chunk_ = chunk;
  }
}

CompressedPart ChunkCompressor::compress(const Rectangle& where, const ConstElements& values) const {
  if (chunk_.empty() || static_cast<ElementType>(values.index()) != type_) {
    return {{}, {where}};
  }
  const auto covered = covered_by(where, shape_, chunk_);
  if (product(covered.count) == 0) {
    return {{}, {where}};
  }
  const auto element_bytes = element_size(type_);
  const auto chunk_elements = product(chunk_);
  std::vector<std::uint8_t> elements(chunk_elements * element_bytes);
  std::vector<std::uint8_t> planes(elements.size());
  CompressedPart part{{}, around(where, covered)};
  for (const auto& chunk : chunks_of(covered, chunk_)) {
    if (chunk.count != chunk_) {
      std::ranges::fill(elements, std::uint8_t{0});
    }
    copy_box(where, bytes_of(values), chunk, chunk_, element_bytes, elements);
    shuffle(elements, element_bytes, planes);
    part.chunks.push_back({chunk.start, deflated(planes, chunk_elements)});
  }
  return part;
}

std::uint64_t ChunkCompressor::last_border(std::uint64_t end) const {
  std::uint64_t inner = 1;
  for (auto axis = chunk_.size(); axis-- > 0;) {
    if (chunk_[axis] < shape_[axis]) {
      const auto over = end / inner % shape_[axis] % chunk_[axis];
      return (end / inner - over) * inner;
    }
    inner *= shape_[axis];
  }
  return chunk_.empty() || end == inner ? end : 0;
}

std::span<const std::uint8_t> bytes_of(const ConstElements& values) {
  return std::visit(
      [](auto numbers) -> std::span<const std::uint8_t> {
        return {reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size_bytes()};
      },
      values);
}

}  // namespace stereosweep::hdf5
