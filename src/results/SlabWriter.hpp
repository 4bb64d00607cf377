// Raw blocks in canonical order -> cubes of a file, gathered into slabs so that small blocks cost no call each.
#pragma once

#include <cstdint>
#include <vector>

#include "hdf5/DataSet.hpp"
#include "results/Layout.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::results {

class SlabWriter {
 public:
  /// Creates the cubes in `layout`, which knows all axes.
  SlabWriter(const RawSchema& schema, Layout& layout);
  /// Contexts that follow those added before, or start later; they must not cross from priors to groups.
  void add(std::uint64_t first_context, std::uint64_t num_contexts, RawBlock&& block);
  /// Writes what is still held.
  void flush();

 private:
  /// The arrays of one cube; priors' one only where there are priors.
  struct Cube {
    std::vector<hdf5::DataSet> prior;  ///< none or one
    hdf5::DataSet group;
    hdf5::Shape inner_shape;
  };
  bool follows(std::uint64_t first_context) const;
  std::uint64_t held_bytes() const;

  std::vector<Cube> cubes_;
  hdf5::Shape prior_shape_;
  hdf5::Shape group_shape_;
  std::uint64_t num_prior_contexts_ = 0;
  RawBlock held_;
  std::uint64_t held_first_ = 0;
  std::uint64_t held_contexts_ = 0;
};

}  // namespace stereosweep::results
