// Raw numbers of a block, and the schema that says what they are. What a probe folds, the journal keeps and the
// export lays out as cubes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/Bytes.hpp"
#include "base/files/Sha256.hpp"
#include "hdf5/Handle.hpp"

namespace stereosweep::results {

using hdf5::ElementType;

/// Place of the label; nothing: there is none.
std::optional<std::size_t> place_of(const std::vector<std::string>& labels, const std::string& label);

/// One inner or outer axis with its labels and auxiliary coordinates (parallel text vectors: "pole", "pair", ...).
struct AxisSchema {
  std::string name;  ///< "group", "template", "rephrasing", "word", "subword"
  std::string long_name;
  std::vector<std::string> labels;
  struct Coordinate {
    std::string name;
    std::string long_name;
    std::vector<std::string> values;
  };
  std::vector<Coordinate> coordinates;

  /// The values of the coordinate of this name; null: there is none.
  const std::vector<std::string>* find_coordinate(const std::string& coordinate) const;
  /// What the coordinate of this name says of a label; "": there is none.
  std::string value(const std::string& coordinate, std::size_t place) const;
  /// The axis with the labels and coordinates of these places alone.
  AxisSchema part(const std::vector<std::size_t>& places) const;
};

/// Of an axis that must have the coordinate. Throws InputError.
const std::vector<std::string>& coordinate_of(const AxisSchema& axis, const std::string& name);

/// One cube: per context a small array over `inner_axes`.
struct CubeSchema {
  std::string name;  ///< "logprob"
  ElementType type = ElementType::float64;
  std::vector<std::string> inner_axes = {};  ///< names of inner axes, outermost first; empty: one value per context
  std::string units = {};                    ///< "nat", "1", ""
  std::string long_name = {};
  std::string description = {};
  std::vector<std::string> flag_meanings = {};  ///< uint8 status cubes: meaning of 0, 1, 2, ...
};

/// outer_axes are the contexts' axes [subject, template, rephrasing]; the first `num_priors` subjects are priors.
struct RawSchema {
  std::vector<AxisSchema> outer_axes;
  std::uint64_t num_priors = 0;
  std::vector<AxisSchema> inner_axes;
  std::vector<CubeSchema> cubes;
  const AxisSchema& inner_axis(const std::string& name) const;
  /// Place of the cube of this name; nothing: there is none.
  std::optional<std::size_t> find_cube(const std::string& name) const;
  /// Values per context of a cube.
  std::uint64_t values_per_context(const CubeSchema& cube) const;
};

/// In the order of ElementType.
using RawColumn = std::variant<std::vector<double>, std::vector<std::int32_t>, std::vector<std::uint8_t>,
                               std::vector<std::string>, std::vector<float>>;

RawColumn empty_column(ElementType type);
/// Throws base::Error for a flag that has no meaning, and for texts that are no UTF-8.
void check_values(const CubeSchema& cube, const RawColumn& column);
void append(RawColumn& target, RawColumn&& more);
/// The first `count` values; the others stay.
RawColumn take_first(RawColumn& column, std::uint64_t count);

/// Values of one block: one column per cube, in the schema's order, contexts outermost.
struct RawBlock {
  std::vector<RawColumn> columns;
  void write(base::ByteWriter& out) const;
  /// Puts contexts of `from`, which has one for each of `places`, at these places among the `num_contexts` of this.
  void put(const RawBlock& from, const std::vector<std::uint64_t>& places, std::uint64_t num_contexts);
  /// Throws base::Error if the bytes are no RawBlock of `schema` with `num_contexts` contexts.
  static RawBlock read(base::ByteReader& in, const RawSchema& schema, std::uint64_t num_contexts);
};

/// One SHA-256 over all raw numbers of a run: equal for any rank count, any kill and resume. Fed with contexts in
/// canonical order. Per cube one hash over its values (float64: little-endian bytes, every NaN as
/// 0x7ff8000000000000 (float32: 0x7fc00000); text: length and bytes); the digest is the hash of the cubes' names, types
/// and hashes in alphabetical order.
class RawDigest {
 public:
  explicit RawDigest(const RawSchema& schema) : cubes_(schema.cubes), hashes_(schema.cubes.size()) {}
  void add(const RawBlock& contexts);
  /// The object must not be used afterwards.
  base::Digest finish();

 private:
  std::vector<CubeSchema> cubes_;
  std::vector<base::Sha256> hashes_;
};

}  // namespace stereosweep::results
