#include "hdf5/Chunks.hpp"

#include <hdf5.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
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

/// Bytes of one weight together: HDF5's filter "shuffle". Values that are missing at the end of a chunk are zero.
void shuffle(std::span<const std::uint8_t> values, std::uint64_t element_bytes, std::span<std::uint8_t> planes) {
  const auto count = values.size() / element_bytes;
  if (values.size() < planes.size()) {
    std::ranges::fill(planes, std::uint8_t{0});
  }
  for (std::uint64_t byte = 0; byte < element_bytes; ++byte) {
    auto* plane = planes.data() + byte * (planes.size() / element_bytes);
    const auto* value = values.data() + byte;
    for (std::uint64_t index = 0; index < count; ++index) {
      plane[index] = value[index * element_bytes];
    }
  }
}

/// As `Group::create_dataset` makes it, unless it is `ShortLived`: arrays are written by who has created them.
bool has_filters(const DataSet& dataset) {
  const Handle list(H5Dget_create_plist(dataset.id()), H5Pclose, "cannot read the layout of '" + dataset.name() + "'");
  return H5Pget_nfilters(list.id()) > 0;
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

ChunkCompressor::ChunkCompressor(const DataSet& dataset) : shape_(dataset.shape()), type_(dataset.type()) {
  if (shape_.empty() || product(shape_) == 0 || type_ == ElementType::text) {
    return;
  }
  if (has_filters(dataset)) {
    chunk_ = canonical_chunk(shape_, element_size(type_), chunk_bytes);
    const auto cut = std::ranges::find_if(chunk_, [](auto length) { return length > 1; }) - chunk_.begin();
    row_ = product(std::span(shape_).subspan(std::min<std::size_t>(cut, chunk_.size() - 1)));
  }
}

CompressedPart ChunkCompressor::compress(std::uint64_t first, const ConstElements& values) const {
  const auto count = std::visit([](auto elements) { return elements.size(); }, values);
  if (chunk_.empty() || static_cast<ElementType>(values.index()) != type_) {
    return {{}, {{first, count}}};
  }
  const auto element_bytes = element_size(type_);
  const auto chunk_elements = product(chunk_);
  std::vector<std::uint8_t> planes(chunk_elements * element_bytes);
  CompressedPart part;
  for (auto place = first; place < first + count;) {
    const auto begin = last_border(place);
    const auto end = std::min(begin + chunk_elements, (place / row_ + 1) * row_);
    const auto length = std::min(end, first + count) - place;
    if (place == begin && length == end - begin) {
      shuffle(bytes_of(values).subspan((place - first) * element_bytes, length * element_bytes), element_bytes, planes);
      part.chunks.push_back({coordinates_of(place, shape_), deflated(planes, chunk_elements)});
    } else {
      part.rest.push_back({place, length});
    }
    place += length;
  }
  return part;
}

std::uint64_t ChunkCompressor::last_border(std::uint64_t end) const {
  return chunk_.empty() ? end : end - end % row_ % product(chunk_);
}

std::span<const std::uint8_t> bytes_of(const ConstElements& values) {
  return std::visit(
      [](auto numbers) -> std::span<const std::uint8_t> {
        return {reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size_bytes()};
      },
      values);
}

}  // namespace stereosweep::hdf5
