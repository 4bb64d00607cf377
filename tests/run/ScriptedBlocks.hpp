// Blocks whose steps a test says: an engine that calls a script, and a probe with one number a block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "probes/Probe.hpp"
#include "query/Engine.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::testing {

// What happens in a step of a call, told "plan 1", "run 1" or "read 1" for the query with the text 1.
using Script = std::function<void(const std::string& step)>;

class ScriptedCall : public query::Call {
 public:
  ScriptedCall(const Script& script, std::span<const query::Query> queries) : script_(script), queries_(queries) {}
  void run() override { script_("run " + text()); }
  std::vector<query::Answer> read() override {
    script_("read " + text());
    return {query::EmbedAnswer{{std::stof(text())}}};
  }
  query::EngineCounts cost() const override { return {.distinct_tokens = 10 + std::stoull(text())}; }

 private:
  std::string text() const { return std::get<query::Embed>(queries_.front()).text; }

  const Script& script_;
  std::span<const query::Query> queries_;
};

class ScriptedEngine : public query::Engine {
 public:
  explicit ScriptedEngine(Script script) : script_(std::move(script)) {}
  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) const override {
    script_("plan " + std::get<query::Embed>(queries.front()).text);
    return std::make_unique<ScriptedCall>(script_, queries);
  }

 private:
  Script script_;
};

// Block i asks for the text i, then for 10 + i and so on; its one number is the sum of the answers.
class ChainProbe : public probes::Probe {
 public:
  explicit ChainProbe(std::size_t rounds, std::uint64_t num_blocks = 3)
      : rounds_(rounds), blocks_(sweep::Product({num_blocks}), 1) {}
  const results::RawSchema& schema() const override { return schema_; }
  const sweep::BlockPlan& blocks() const override { return blocks_; }
  probes::Round first(const sweep::Block& block) const override { return round_of(block.index); }
  bool asks_again() const override { return rounds_ > 1; }
  std::optional<probes::Round> next(const sweep::Block& block, const probes::Transcript& transcript) const override {
    const auto done = transcript.rounds.size();
    return done < rounds_ ? std::optional(round_of(10 * done + block.index)) : std::nullopt;
  }
  results::RawBlock fold(const sweep::Block& /*block*/, const probes::Transcript& transcript) const override {
    double sum = 0;
    for (const auto& answers : transcript.answers) {
      sum += std::get<query::EmbedAnswer>(answers.front()).vector.front();
    }
    return {{std::vector<double>{sum}}};
  }
  void hash_content(const sweep::Block& block, base::Sha256& hash) const override { hash.number(block.index); }

 private:
  static probes::Round round_of(std::uint64_t number) {
    query::Embed asked;
    asked.text = std::to_string(number);
    return {{asked}};
  }

  std::size_t rounds_;
  sweep::BlockPlan blocks_;
  results::RawSchema schema_{{{"block", "block", {"0", "1", "2"}, {}}},
                             0,
                             {},
                             {probes::cube("sum", results::ElementType::float64, {}, "1", "", "")}};
};

}  // namespace stereosweep::testing
