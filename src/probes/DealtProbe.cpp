#include "probes/DealtProbe.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"

namespace stereosweep::probes {
namespace {

/// Each part of a block is a range of contexts, which the probe within takes for a block of its own.
class DealtProbe final : public Probe {
 public:
  DealtProbe(std::shared_ptr<const Probe> within, const std::vector<std::uint8_t>& rounds)
      : within_(std::move(within)), blocks_(within_->blocks().dealt(rounds)) {}

  const results::RawSchema& schema() const override { return within_->schema(); }
  const sweep::BlockPlan& blocks() const override { return blocks_; }
  bool asks_again() const override { return within_->asks_again(); }

  Round first(const sweep::Block& block) const override {
    Round all;
    for (const auto& part : parts_of(block)) {
      add(all, within_->first(part));
    }
    return all;
  }

  std::optional<Round> next(const sweep::Block& block, const Transcript& transcript) const override {
    Round all;
    const auto parts = parts_of(block);
    const auto own = transcripts_of(parts, transcript);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const bool has_ended = own[part].rounds.size() < transcript.rounds.size();
      add(all, has_ended ? Round() : within_->next(parts[part], own[part]).value_or(Round()));
    }
    return all.queries.empty() ? std::nullopt : std::optional(std::move(all));
  }

  results::RawBlock fold(const sweep::Block& block, const Transcript& transcript) const override {
    results::RawBlock all;
    const auto parts = parts_of(block);
    const auto own = transcripts_of(parts, transcript);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      auto raw = within_->fold(parts[part], own[part]);
      if (part == 0) {
        all = std::move(raw);
        continue;
      }
      for (std::size_t column = 0; column < raw.columns.size(); ++column) {
        results::append(all.columns[column], std::move(raw.columns[column]));
      }
    }
    return all;
  }

  void each_conversation(const sweep::Block& block, const results::RawBlock& raw,
                         const ConversationVisitor& visit) const override {
    auto left = raw;
    for (const auto& part : parts_of(block)) {
      results::RawBlock own;
      for (std::size_t column = 0; column < left.columns.size(); ++column) {
        const auto length = schema().values_per_context(schema().cubes[column]);
        own.columns.push_back(results::take_first(left.columns[column], part.num_contexts * length));
      }
      within_->each_conversation(part, own, visit);
    }
  }

  void hash_content(const sweep::Block& block, base::Sha256& hash) const override {
    for (const auto& part : parts_of(block)) {
      hash.number(part.num_contexts);
      within_->hash_content(part, hash);
    }
  }

 private:
  std::vector<sweep::Block> parts_of(const sweep::Block& block) const {
    std::vector<sweep::Block> parts;
    for (std::uint64_t place = 0; place < block.num_contexts; ++place) {
      const auto context = blocks_.context(block, place);
      if (parts.empty() || context != parts.back().first_context + parts.back().num_contexts) {
        parts.push_back({.index = block.index, .first_context = context});
      }
      ++parts.back().num_contexts;
    }
    return parts;
  }

  static void add(Round& all, Round&& part) {
    all.lengths.push_back(part.queries.size());
    std::ranges::move(part.queries, std::back_inserter(all.queries));
  }

  /// A part that asks nothing in a later round has ended.
  static std::vector<Transcript> transcripts_of(const std::vector<sweep::Block>& parts, const Transcript& all) {
    std::vector<Transcript> own(parts.size());
    for (std::size_t round = 0; round < all.rounds.size(); ++round) {
      const auto& asked = all.rounds[round];
      STEREOSWEEP_ASSERT(asked.lengths.size() == parts.size(), "a round says which part asked what");
      auto query = asked.queries.begin();
      auto answer = all.answers.at(round).begin();
      for (std::size_t part = 0; part < parts.size(); ++part) {
        const auto length = static_cast<std::ptrdiff_t>(asked.lengths[part]);
        if (round == 0 || length > 0) {
          own[part].rounds.push_back({{query, query + length}});
          own[part].answers.emplace_back(answer, answer + length);
        }
        query += length;
        answer += length;
      }
    }
    return own;
  }

  std::shared_ptr<const Probe> within_;
  sweep::BlockPlan blocks_;
};

}  // namespace

std::size_t outer_axis(const results::RawSchema& schema, const char* name) {
  const auto& axes = schema.outer_axes;
  const auto found = std::ranges::find(axes, name, &results::AxisSchema::name);
  base::refuse_if(found == axes.end(), "this probe cannot ask in rounds",
                  std::string("its contexts have no axis '") + name + "'");
  return static_cast<std::size_t>(found - axes.begin());
}

std::vector<std::uint64_t> sentences_of(const results::RawSchema& schema) {
  const auto template_axis = outer_axis(schema, "template");
  const auto rephrasing_axis = outer_axis(schema, "rephrasing");
  auto lengths = base::mapped(schema.outer_axes, [](const auto& axis) { return std::uint64_t{axis.labels.size()}; });
  lengths.front() = 1;
  const sweep::Product inside(lengths);
  std::vector<std::uint64_t> sentences(inside.num_contexts());
  for (std::uint64_t context = 0; context < sentences.size(); ++context) {
    const auto at = inside.coordinates(context);
    sentences[context] = at[template_axis] * lengths[rephrasing_axis] + at[rephrasing_axis];
  }
  return sentences;
}

std::shared_ptr<const Probe> dealt(std::shared_ptr<const Probe> probe, const std::vector<std::uint8_t>& rounds) {
  const auto of_contexts =
      base::mapped(sentences_of(probe->schema()), [&](std::uint64_t sentence) { return rounds.at(sentence); });
  return std::make_shared<DealtProbe>(std::move(probe), of_contexts);
}

}  // namespace stereosweep::probes
