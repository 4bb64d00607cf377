// The text that `plan` prints.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "model/CheckpointConfig.hpp"
#include "probes/association/Audit.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::association {

/// Sizes that follow from the shapes in config.json alone.
struct ModelCost {
  std::uint64_t parameters = 0;
  double flops_per_token = 0;  ///< products of the layers, attention left out
  double flops_per_row = 0;    ///< head and projection onto the vocabulary
};
ModelCost model_cost(const model::CheckpointConfig& config);

struct PlanFacts {
  const sweep::Job& job;
  const AssociationProbe& probe;
  const Audit& audit;
  std::optional<model::CheckpointConfig> config;  ///< nothing: a fake engine without a model
  int ranks = 1;
  std::uint64_t limit = 40;  ///< lines per list
};

void print_plan(std::ostream& out, const PlanFacts& facts);

/// One line per cell, tab-separated: group, template, rephrasing, word, status, text. At most `limit` cells.
void print_prompts(std::ostream& out, const AssociationProbe& probe, std::uint64_t limit);

}  // namespace stereosweep::probes::association
