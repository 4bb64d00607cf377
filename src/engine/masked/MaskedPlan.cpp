#include "engine/masked/MaskedPlan.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/Text.hpp"

namespace stereosweep::engine {

namespace {

using query::TokenId;

// Token ids of one query and the rows that it reads.
struct MaskedTask {
  std::vector<TokenId> ids;
  int layer = 0;
  std::vector<Use> uses;
  std::vector<InputRows> input_rows;
  query::Answer answer;  ///< with room for the numbers
};

class MaskedPreparer {
 public:
  MaskedPreparer(const tokenizer::Tokenizer& tokenizer, const MaskedLimits& limits)
      : tokenizer_(tokenizer),
        limits_(limits),
        input_{limits.num_layers, limits.vocabulary, limits.max_tokens},
        mask_(tokenizer.mask_id()) {}

  // Throws InputError where the query is at fault.
  MaskedTask operator()(const query::Fill& fill) const {
    if (const auto why = lacks_masks(tokenizer_, limits_)) {
      refuse_query("this model cannot fill masks", *why);
    }
    MaskedTask task;
    task.ids = encode_input(fill.text, tokenizer_, tokenizer::SpecialTokens::add, input_).ids;
    task.layer = limits_.num_layers;
    const auto masks = places_of_masks(task.ids);
    if (masks.size() != fill.slots.size()) {
      refuse_query(base::counted(fill.slots.size(), "id list") + " for " + base::counted(masks.size(), "mask"),
                   "each mask token of the text takes one list");
    }
    if (masks.empty()) {
      refuse_query("the text holds no mask",
                   "words are asked for where " + tokenizer_.mask_token().value_or("the mask token") + " stands");
    }
    for (std::size_t slot = 0; slot < masks.size(); ++slot) {
      const auto& asked = fill.slots[slot];
      for (const auto target : asked.targets) {
        check_id(target, limits_.vocabulary);
      }
      if (asked.filled) {
        check_id(*asked.filled, limits_.vocabulary);
        task.ids[masks[slot]] = *asked.filled;
      }
      if (!asked.targets.empty()) {
        task.uses.push_back({static_cast<std::int32_t>(masks[slot]), 0, static_cast<std::int32_t>(slot)});
      }
    }
    query::FillAnswer room;
    room.slots.resize(fill.slots.size());
    task.answer = std::move(room);
    return task;
  }

  MaskedTask operator()(const query::Embed& asked) const {
    MaskedTask task;
    task.answer = query::EmbedAnswer{};
    if (asked.source == query::VectorSource::input_embedding) {
      task.input_rows.push_back(prepare_input_rows(asked, tokenizer_, input_));
      return task;
    }
    auto input = prepare_embed(asked, tokenizer_, input_);
    task.layer = input.layer;
    for (const auto position : input.positions) {
      task.uses.push_back({position, 0, Use::whole_vector});
    }
    task.ids = std::move(input.ids);
    return task;
  }

  MaskedTask operator()(const query::Continue&) const { refuse_causal("continue"); }
  MaskedTask operator()(const query::Generate&) const { refuse_causal("generate"); }

 private:
  [[noreturn]] static void refuse_causal(const std::string& kind) {
    refuse_query("this model cannot answer '" + kind + "'", "it is a masked language model, which sees both sides");
  }

  std::vector<std::size_t> places_of_masks(std::span<const TokenId> ids) const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == *mask_) {
        places.push_back(i);
      }
    }
    return places;
  }

  const tokenizer::Tokenizer& tokenizer_;
  const MaskedLimits& limits_;
  InputLimits input_;
  std::optional<TokenId> mask_;
};

bool task_comes_before(const MaskedTask& left, const MaskedTask& right) {
  if (left.layer != right.layer) {
    return left.layer < right.layer;
  }
  if (left.ids.size() != right.ids.size()) {
    return left.ids.size() < right.ids.size();
  }
  return left.ids < right.ids;
}

}  // namespace

std::optional<std::string> lacks_masks(const tokenizer::Tokenizer& tokenizer, const MaskedLimits& limits) {
  if (!limits.has_head) {
    return "it has no masked-language-model head";
  }
  return tokenizer.mask_id() ? std::nullopt : std::optional<std::string>("its tokenizer has no mask token");
}

MaskedPlan plan_masked(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer,
                       const MaskedLimits& limits) {
  const MaskedPreparer prepare(tokenizer, limits);
  MaskedPlan plan;
  plan.answers.reserve(queries.size());
  std::vector<MaskedTask> tasks;
  for (const auto& asked : queries) {
    try {
      MaskedTask task = std::visit(prepare, asked);
      for (auto& use : task.uses) {
        use.query = static_cast<std::uint32_t>(plan.answers.size());
      }
      for (auto& rows : task.input_rows) {
        plan.input_rows.push_back({std::move(rows.ids), static_cast<std::uint32_t>(plan.answers.size())});
      }
      plan.answers.push_back(std::move(task.answer));
      if (!task.uses.empty()) {
        tasks.push_back(std::move(task));
      }
    } catch (const base::InputError& error) {
      plan.answers.emplace_back(to_query_error(error));
    }
  }
  std::stable_sort(tasks.begin(), tasks.end(), task_comes_before);
  for (auto& task : tasks) {
    if (plan.sequences.empty() || plan.sequences.back().layer != task.layer || plan.sequences.back().ids != task.ids) {
      plan.sequences.push_back({std::move(task.ids), task.layer, {}});
    }
    auto& uses = plan.sequences.back().uses;
    uses.insert(uses.end(), task.uses.begin(), task.uses.end());
  }
  for (auto& sequence : plan.sequences) {
    std::sort(sequence.uses.begin(), sequence.uses.end());
  }
  return plan;
}

std::vector<BatchRange> cut_batches(std::span<const Sequence> sequences, std::int64_t budget) {
  std::vector<BatchRange> batches;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto length = std::ssize(sequences[i].ids);
    if (batches.empty() || sequences[i].layer != sequences[i - 1].layer || tokens + length > budget) {
      batches.push_back({i, i});
      tokens = 0;
    }
    batches.back().last = i + 1;
    tokens += length;
  }
  return batches;
}

}  // namespace stereosweep::engine
