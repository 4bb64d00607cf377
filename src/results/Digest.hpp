// One SHA-256 over all raw numbers of a run: equal for any rank count, any kill and resume.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/Sha256.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::results {

class ResultFile;

/// Fed with contexts in canonical order. Per cube one hash over its values (float64: little-endian bytes, every NaN as
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

/// Of an exported file; blocks that are not scored count as their fill values.
base::Digest digest_of_file(const ResultFile& file);

}  // namespace stereosweep::results
