// Lines that the plans of all probes print.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/causal/TokenTreePlan.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "probes/Probe.hpp"
#include "probes/ProbeKind.hpp"
#include "results/RawBlock.hpp"
#include "sweep/Job.hpp"
#include "sweep/Product.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes {

/// Contexts that a plan has looked at; `whole` carries a sum over them to the whole product.
struct PlanSample {
  std::uint64_t num_contexts = 0;   ///< of the product
  std::uint64_t contexts_read = 0;  ///< all, or blocks spread over the product
  bool is_exact() const { return contexts_read == num_contexts; }
  double scale() const { return contexts_read == 0 ? 0 : double(num_contexts) / double(contexts_read); }
  double whole(std::uint64_t value) const { return static_cast<double>(value) * scale(); }
  /// "1,234", "1,234 tokens"; "about ..." where not all contexts were read.
  std::string sum(std::uint64_t value, std::string_view noun = "") const;
  /// Says so; nothing where all were read.
  void print_note(std::ostream& out) const;
};

std::string format_number(const char* pattern, double value);
/// "12 kB", "3.4 MB"
std::string megabytes(double bytes);
/// The head of a line, padded: "blocks     ".
std::ostream& plan_line(std::ostream& out, const std::string& name);
/// How many blocks there are and how many each rank gets.
void print_blocks(std::ostream& out, const sweep::Job& job, const sweep::BlockPlan& blocks, int ranks);
/// Size of the journal: the cubes of all contexts, and `text_bytes` of texts.
double output_bytes(const results::RawSchema& schema, std::uint64_t num_contexts, double text_bytes);
/// Items with one of their details each, at most `limit` of them; nothing where there are none.
void print_list(std::ostream& out, const char* title, const std::map<std::string, std::set<std::string>>& items,
                const char* what, std::uint64_t limit);
/// Groups and pairs of groups that are not measured, each with its reason, at most `limit`; nothing where there are
/// none.
void print_omissions(std::ostream& out, const std::vector<sweep::Omission>& omissions, std::uint64_t limit);

// What asking a causal model will cost, for every probe that asks `continue` and `generate`: counted from the queries,
// without a model.

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

/// The line "chat"; `without` is what it says of a job without a chat template, whose checkpoint may have one.
void print_chat(std::ostream& out, const sweep::Job& job, std::string_view without);

/// What the plan of a probe that samples texts says beside the cost.
struct SampledPlan {
  std::string title;    ///< between the names of job and model: "interview of"
  std::string product;  ///< the probe's summary
  std::function<void(const std::optional<model::CausalSpecification>&)> print_own_lines;  ///< before the cost
  const std::vector<sweep::Omission>& omissions;
  std::function<void(std::uint64_t limit)> print_prompts;  ///< of at most so many contexts
};

/// The whole plan.
void print_sampled_plan(std::ostream& out, const SampledPlan& plan, const Probe& probe, const PlanRequest& request);

}  // namespace stereosweep::probes
