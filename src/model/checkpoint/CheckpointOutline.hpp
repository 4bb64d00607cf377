// What a checkpoint is, from its small files and the headers of its weights: quick for any size, and no number is read.
#pragma once

#include "base/files/File.hpp"

namespace stereosweep::model {

struct CheckpointOutline {
  enum class Kind { masked, causal, elmo };
  Kind kind = Kind::masked;
  bool has_weights = false;  ///< false: the directory holds the small files alone
  bool has_head = true;      ///< whether words can be predicted; of a masked model known from its weights
};

/// Reads config.json and finds every tensor with its shape and type, as loading does. `files` need not hold weights.
/// Throws InputError where loading would, but for NaN and infinite numbers; of ELMo's weights only the name is looked
/// at.
CheckpointOutline read_outline(const base::FileSet& files);

}  // namespace stereosweep::model
