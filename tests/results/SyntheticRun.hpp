// A small run whose every raw number is a known function of its place.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "results/Export.hpp"
#include "results/RawBlock.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::testing {

inline results::AxisSchema numbered_axis(const std::string& name, std::size_t length) {
  results::AxisSchema axis{name, "the " + name, {}, {}};
  for (std::size_t index = 0; index < length; ++index) {
    axis.labels.push_back(name + " " + std::to_string(index));
  }
  return axis;
}

/// [2 priors + groups, 3 templates, 2 rephrasings] x [4 words, 3 subwords].
inline results::RawSchema synthetic_schema(std::size_t num_groups) {
  results::RawSchema schema;
  auto subjects = numbered_axis("group", 2 + num_groups);
  subjects.labels.back() = "größte 日本";
  subjects.coordinates = {{"group_domain", "domain of the group", subjects.labels}};
  auto words = numbered_axis("word", 4);
  words.coordinates = {{"pole", "pole", {"a", "a", "b", "b"}},
                       {"word_pair", "pair", {"a - b", "a - b", "a - b", "a - b"}}};
  schema.outer_axes = {subjects, numbered_axis("template", 3), numbered_axis("rephrasing", 2)};
  schema.num_priors = 2;
  schema.inner_axes = {words, numbered_axis("subword", 3)};
  using results::ElementType;
  schema.cubes = {
      {"logprob", ElementType::float64, {"word", "subword"}, "nat", "log-probability", "of each subword", {}},
      {"set_active", ElementType::int32, {"word", "subword"}, "1", "competitors", "", {}},
      {"status", ElementType::uint8, {"word"}, "", "status", "", {"ok", "unknown_token"}},
      {"prompt", ElementType::text, {}, "", "prompt", "", {}},
  };
  return schema;
}

inline results::RawBlock synthetic_block(const sweep::Block& block) {
  std::vector<double> logprob;
  std::vector<std::int32_t> active;
  std::vector<std::uint8_t> status;
  std::vector<std::string> prompt;
  for (auto context = block.first_context; context < block.first_context + block.num_contexts; ++context) {
    prompt.push_back("prompt é " + std::to_string(context));
    for (std::uint64_t word = 0; word < 4; ++word) {
      status.push_back(static_cast<std::uint8_t>((context + word) % 2));
      for (std::uint64_t subword = 0; subword < 3; ++subword) {
        const auto index = (context * 4 + word) * 3 + subword;
        logprob.push_back(subword > word ? std::numeric_limits<double>::quiet_NaN()
                                         : -std::sqrt(static_cast<double>(index) + 0.5));
        active.push_back(static_cast<std::int32_t>(index % 100));
      }
    }
  }
  return {{logprob, active, status, prompt}};
}

/// All blocks but those whose index is in `missing`.
inline results::BlockSource synthetic_source(std::set<std::uint64_t> missing = {}) {
  return [missing](const sweep::Block& block) -> std::optional<results::RawBlock> {
    if (missing.contains(block.index)) {
      return std::nullopt;
    }
    return synthetic_block(block);
  };
}

inline results::RunDescription synthetic_run(const results::RawSchema& schema, const sweep::BlockPlan& blocks,
                                             results::BlockSource source) {
  return {"synthetic",
          "association",
          &schema,
          &blocks,
          std::move(source),
          {{"created", "2026-11-21T00:00:00Z"}, {"seed", std::int64_t{7}}},
          {{"job_yaml", "name: größe\n# comment\n"}, {"job_resolved", "{}"}}};
}

inline sweep::BlockPlan synthetic_plan(const results::RawSchema& schema, std::uint64_t contexts_per_block) {
  std::vector<std::uint64_t> lengths;
  for (const auto& axis : schema.outer_axes) {
    lengths.push_back(axis.labels.size());
  }
  return {sweep::Product(lengths), contexts_per_block};
}

}  // namespace stereosweep::testing
