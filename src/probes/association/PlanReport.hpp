// What a job will cost and where its words do not stand as one token, found without a model; the text that `plan`
// prints.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "model/masked/MaskedSpecification.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/association/AssociationProbe.hpp"

namespace stereosweep::probes::association {

/// Sums over the contexts that were read.
struct Audit : PlanSample {
  std::uint64_t cells_by_status[16] = {};
  std::uint64_t forwards_alone = 0;  ///< one forward pass per cell and subword that a measure reads
  std::uint64_t queries = 0;         ///< distinct masked inputs, each computed once per block
  std::uint64_t numbers = 0;         ///< distinct (masked input, target)
  std::uint64_t tokens = 0;          ///< of the distinct inputs, special tokens included
  std::uint64_t longest = 0;         ///< tokens of the longest input
  std::uint64_t too_long = 0;        ///< inputs beyond the model's positions
  std::uint64_t prompt_bytes = 0;
  std::map<std::string, std::set<std::string>> splits;   ///< word -> "power ##less" where it has several pieces
  std::map<std::string, std::set<std::string>> joins;    ///< word -> text around it
  std::map<std::string, std::set<std::string>> unknown;  ///< word -> pieces with the unknown token
  std::map<std::string, std::uint64_t> problems;         ///< why contexts have no text -> how many
};

/// `max_tokens`: longest input of the model (0: unknown). Reads whole blocks, all of them if the product has at most
/// `max_contexts` contexts, else one at a fixed random place in each of as many equal parts as that allows.
Audit audit(const AssociationProbe& probe, const tokenizer::Tokenizer& tokenizer, std::uint64_t max_tokens,
            std::uint64_t max_contexts);

/// Sizes that follow from the shapes in config.json alone.
struct ModelCost {
  std::uint64_t parameters = 0;
  double flops_per_token = 0;  ///< products of the layers, attention left out
  double flops_per_row = 0;    ///< head and projection onto the vocabulary
};
ModelCost model_cost(const model::MaskedSpecification& config);

/// `config`: nothing for a fake engine without a model.
void print_plan(std::ostream& out, const PlanRequest& request, const AssociationProbe& probe, const Audit& audit,
                const std::optional<model::MaskedSpecification>& config);

/// One line per cell, tab-separated: group, template, rephrasing, word, status, text. At most `limit` cells.
void print_prompts(std::ostream& out, const AssociationProbe& probe, std::uint64_t limit);

}  // namespace stereosweep::probes::association
