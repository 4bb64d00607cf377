// What asking a causal model will cost, for every probe that asks `continue` and `generate`: counted from the queries,
// without a model.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "engine/causal/CausalPlan.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "probes/PlanText.hpp"
#include "probes/Probe.hpp"
#include "probes/ProbeKind.hpp"

namespace stereosweep::probes {

/// Sums over the blocks that were read.
struct CausalAudit : PlanSample {
  std::uint64_t distinct_queries = 0;  ///< inside their blocks
  std::uint64_t continuations = 0;
  std::uint64_t samples = 0;        ///< texts to generate
  std::uint64_t sample_tokens = 0;  ///< of their prompts
  std::uint64_t new_tokens = 0;     ///< that they may have at most, all together
  std::uint64_t tokens = 0;         ///< of the continuations' inputs, each shared beginning once
  std::uint64_t naive_tokens = 0;   ///< of prompts with their continuations
  std::uint64_t longest = 0;        ///< tokens of the longest input
  std::uint64_t too_long = 0;
  std::uint64_t prompt_bytes = 0;
  std::map<std::string, std::set<std::string>> splits;  ///< continuation -> its pieces, where it has several
  std::map<std::string, std::set<std::string>> joins;   ///< continuation -> prompt whose last token changes before it
  std::map<std::string, std::set<std::string>> errors;  ///< why a query has no answer -> prompt
};

/// Blocks are read one by one, as they run: all of them, or a sample beyond `max_contexts_planned`. Without a
/// specification (a fake engine without a model) nothing is too long.
CausalAudit audit_causal(const Probe& probe, const PlanRequest& request,
                         const std::optional<model::CausalSpecification>& specification);

/// The specification of the job's model; nothing for a fake engine without config.json. Throws InputError.
std::optional<model::CausalSpecification> specification_of(const PlanRequest& request);

/// Everything after the lines "product" and "cells": cost, blocks, memory, output, words that split or join.
void print_causal_plan(std::ostream& out, const CausalAudit& audit, const Probe& probe, const PlanRequest& request,
                       const std::optional<model::CausalSpecification>& specification);

}  // namespace stereosweep::probes
