#include "engine/masked/MaskedEngine.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "engine/readout/ReaderCall.hpp"

namespace stereosweep::engine {

struct MaskedParts : ReaderParts<model::MaskedModel> {};

namespace {

/// Why the model predicts nothing behind masks; nothing where it does.
std::optional<std::string> lacks_masks(const tokenizer::Tokenizer& tokenizer, const model::ModelShape& shape) {
  if (!shape.has_head) {
    return "it has no masked-language-model head";
  }
  return tokenizer.mask_id() ? std::nullopt : std::optional<std::string>("its tokenizer has no mask token");
}

struct MaskedPreparer {
  const tokenizer::Tokenizer& tokenizer;
  const model::ModelShape& shape;
  InputPlan& plan;

  // Throws InputError where the query is at fault.
  query::Answer operator()(const query::Fill& fill) const {
    if (const auto why = lacks_masks(tokenizer, shape)) {
      base::refuse("this model cannot fill masks", *why);
    }
    Sequence sequence;
    sequence.ids = encode_input(fill.text, tokenizer, tokenizer::SpecialTokens::add, shape).ids;
    sequence.layer = shape.num_layers;
    const auto mask = tokenizer.mask_id();
    const auto masks =
        base::places_where(sequence.ids.size(), [&](std::size_t place) { return sequence.ids[place] == mask; });
    if (masks.size() != fill.slots.size()) {
      base::refuse(base::counted(fill.slots.size(), "id list") + " for " + base::counted(masks.size(), "mask"),
                   "each mask token of the text takes one list");
    }
    if (masks.empty()) {
      base::refuse("the text holds no mask",
                   "words are asked for where " + tokenizer.mask_token().value_or("the mask token") + " stands");
    }
    for (std::size_t slot = 0; slot < masks.size(); ++slot) {
      const auto& asked = fill.slots[slot];
      for (const auto target : asked.targets) {
        check_id(target, shape.vocabulary);
      }
      if (asked.filled) {
        check_id(*asked.filled, shape.vocabulary);
        sequence.ids[masks[slot]] = *asked.filled;
      }
      if (!asked.targets.empty()) {
        sequence.uses.push_back(
            {static_cast<std::int32_t>(masks[slot]), 0, plan.query(), static_cast<std::uint32_t>(slot)});
      }
    }
    query::FillAnswer room;
    room.slots.resize(fill.slots.size());
    if (!sequence.uses.empty()) {
      plan.sequences.push_back(std::move(sequence));
    }
    return room;
  }

  query::Answer operator()(const query::Embed& asked) const { return plan_vector(asked, tokenizer, shape, plan); }
  query::Answer operator()(const query::Continue&) const { refuse_causal("continue"); }
  query::Answer operator()(const query::Generate&) const { refuse_causal("generate"); }

  [[noreturn]] static void refuse_causal(const std::string& kind) {
    base::refuse("this model cannot answer '" + kind + "'", "it is a masked language model, which sees both sides");
  }
};

bool sequence_comes_before(const Sequence& left, const Sequence& right) {
  const auto left_size = left.ids.size();
  const auto right_size = right.ids.size();
  return std::tie(left.layer, left_size, left.ids) < std::tie(right.layer, right_size, right.ids);
}

/// Greedy cut: one layer, at most `budget` tokens; a longer sequence is a batch of its own.
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

ForwardBatch<model::Packed> pack_sequences(std::span<const Sequence> sequences) {
  ForwardBatch<model::Packed> batch;
  auto& [ids, lengths] = batch.input;
  for (const auto& sequence : sequences) {
    batch.read(sequence, [&](std::int64_t position) { return std::ssize(ids) + position; });
    ids.insert(ids.end(), sequence.ids.begin(), sequence.ids.end());
    lengths.push_back(static_cast<std::int32_t>(sequence.ids.size()));
  }
  return batch;
}

}  // namespace

InputPlan plan_masked(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer,
                      const model::ModelShape& shape) {
  InputPlan plan;
  plan_queries(queries, MaskedPreparer{tokenizer, shape, plan}, plan.answers, plan.sequences);
  merge(plan.sequences, sequence_comes_before);
  return plan;
}

MaskedEngine::MaskedEngine(std::unique_ptr<model::MaskedModel> model, const tokenizer::Tokenizer& tokenizer,
                           std::int64_t batch_tokens) {
  const auto& shape = model->shape();
  LogitsReader reader({tokenizer.classes(), static_cast<std::size_t>(shape.vocabulary)}, shape.kernels,
                      shape.has_head ? model->decoder_bias() : at::Tensor());
  parts_ = std::make_shared<MaskedParts>(MaskedParts{{std::move(model), tokenizer, batch_tokens, std::move(reader)}});
}

std::unique_ptr<query::Call> MaskedEngine::plan(std::span<const query::Query> queries) const {
  constexpr Planning<model::Packed> planning{plan_masked, cut_batches, pack_sequences};
  return std::make_unique<ReaderCall<model::MaskedModel, model::Packed>>(*parts_, queries, planning);
}

std::optional<std::string> MaskedEngine::lacks(query::Prediction asked) const {
  return asked == query::Prediction::masked ? lacks_masks(parts_->tokenizer, parts_->model->shape())
                                            : "it is a masked model";
}

}  // namespace stereosweep::engine
