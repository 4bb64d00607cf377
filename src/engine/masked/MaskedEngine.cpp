#include "engine/masked/MaskedEngine.hpp"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/process/Profile.hpp"
#include "engine/Memory.hpp"
#include "engine/readout/HiddenRows.hpp"

namespace stereosweep::engine {

namespace {

using base::profile::timed;

// oneDNN compiles its kernels for each number of rows, some milliseconds each: so these numbers are kept few.
constexpr std::int64_t last_layer_unit = 64;  // rows of one layer only: fillers cost next to nothing

// Tokens of one forward pass, fillers included: a batch that nearly fills the budget fills it, so that full batches
// have one shape; others are rounded up, small ones to 16, because they are most often one short text.
std::int64_t filled_size(std::int64_t tokens, std::int64_t budget) {
  if (tokens <= budget && budget - tokens <= budget / 32) {
    return budget;
  }
  return rounded_up(tokens, tokens <= 128 ? 16 : 32);
}

// Appends sequences that nobody reads.
void fill_up(model::Packed& batch, std::int64_t size, std::int64_t max_tokens) {
  for (auto missing = size - std::ssize(batch.ids); missing > 0;) {
    const auto length = std::min(missing, max_tokens);
    batch.ids.insert(batch.ids.end(), static_cast<std::size_t>(length), batch.ids.front());
    batch.lengths.push_back(static_cast<std::int32_t>(length));
    missing -= length;
  }
}

// Adds tokens from the end of the batch until the number of rows is round; sorted and distinct as before.
std::vector<std::int64_t> with_spare_rows(const std::vector<std::int64_t>& rows, std::int64_t tokens) {
  const auto wanted = std::min(rounded_up(std::ssize(rows), last_layer_unit), tokens);
  std::vector<std::int64_t> spare;
  auto taken = rows.rbegin();
  for (auto token = tokens - 1; std::ssize(rows) + std::ssize(spare) < wanted; --token) {
    if (taken != rows.rend() && *taken == token) {
      ++taken;
    } else {
      spare.push_back(token);
    }
  }
  std::vector<std::int64_t> all(rows.size() + spare.size());
  std::merge(rows.begin(), rows.end(), spare.rbegin(), spare.rend(), all.begin());
  return all;
}

// The work of one call.
class MaskedCall {
 public:
  MaskedCall(const model::MaskedModel& model, std::span<const query::Query> queries, MaskedPlan& plan,
             const std::optional<SlotsReader>& slots, query::EngineCounts& counts)
      : model_(model),
        queries_(queries),
        plan_(plan),
        counts_(counts),
        queue_(model.shape(), queries.size(), [this](const Queue::Rows& rows) { project(rows); }),
        slots_(slots) {}

  void run(std::int64_t batch_tokens) {
    for (const auto& batch : cut_batches(plan_.sequences, batch_tokens)) {
      forward(batch, batch_tokens);
    }
    queue_.finish(
        plan_.input_rows, [this](auto ids) { return model_.input_embeddings(ids); }, plan_.answers);
  }

 private:
  using Queue = ReaderQueue<Use>;

  void forward(const BatchRange& range, std::int64_t batch_tokens) {
    model::Packed batch;
    std::vector<RowReader<Use>> readers;  // the tokens of a span lie in one sequence, hence in one batch
    std::vector<std::int64_t> rows;
    for (std::size_t i = range.first; i < range.last; ++i) {
      const auto& sequence = plan_.sequences[i];
      for (const auto& [position, uses] : readers_of<Use>(sequence.uses, &Use::position)) {
        rows.push_back(std::ssize(batch.ids) + position);
        readers.push_back({rows.back(), uses});
      }
      batch.ids.insert(batch.ids.end(), sequence.ids.begin(), sequence.ids.end());
      batch.lengths.push_back(static_cast<std::int32_t>(sequence.ids.size()));
    }
    counts_.distinct_sequences += batch.lengths.size();
    counts_.distinct_tokens += batch.ids.size();
    fill_up(batch, filled_size(std::ssize(batch.ids), batch_tokens), model_.shape().max_tokens);
    rows = with_spare_rows(rows, std::ssize(batch.ids));
    for (auto& reader : readers) {  // from tokens of the batch to rows of the result
      reader.row = std::lower_bound(rows.begin(), rows.end(), reader.row) - rows.begin();
    }
    const auto layer = plan_.sequences[range.first].layer;
    queue_.add(timed("body", [&] { return model_.hidden(batch, layer, rows); }), readers);
  }

  void project(const Queue::Rows& rows) {
    const auto head_input = model_.head_input(rows.hidden);
    counts_.head_rows += static_cast<std::uint64_t>(rows.count);
    const auto logits = timed("head", [&] { return model_.logits(head_input); });
    const base::profile::Span span("reading");
    std::vector<SlotAtRow> asked;
    for (const auto& [row, use] : rows.uses) {
      const auto& fill = std::get<query::Fill>(queries_[use->query]);
      asked.push_back({row, &fill, &fill.slots[static_cast<std::size_t>(use->slot)]});
    }
    auto slots = slots_->read(logits, head_input, asked);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto& use = *rows.uses[i].second;
      auto* answer = std::get_if<query::FillAnswer>(&plan_.answers[use.query]);
      if (answer == nullptr) {
        continue;  // another slot of this query already failed
      }
      if (slots[i]) {
        answer->slots[static_cast<std::size_t>(use.slot)] = std::move(*slots[i]);
      } else {
        plan_.answers[use.query] = not_finite_error(model_.shape().dtype);
      }
    }
  }

  const model::MaskedModel& model_;
  std::span<const query::Query> queries_;
  MaskedPlan& plan_;
  query::EngineCounts& counts_;
  Queue queue_;
  const std::optional<SlotsReader>& slots_;
};

}  // namespace

MaskedEngine::MaskedEngine(std::unique_ptr<model::MaskedModel> model, const tokenizer::Tokenizer& tokenizer,
                           std::int64_t batch_tokens)
    : model_(std::move(model)),
      tokenizer_(tokenizer),
      batch_tokens_(batch_tokens),
      limits_(limits_of(model_->shape())) {
  if (limits_.has_head) {
    const ClassMask classes(tokenizer.classes(), static_cast<std::size_t>(limits_.vocabulary));
    slots_.emplace(classes, model_->decoder_bias(), model_->shape().kernels);
  }
}

std::vector<query::Answer> MaskedEngine::answer(std::span<const query::Query> queries) {
  const c10::InferenceMode guard;
  const base::profile::Span span("batching");
  auto plan = timed("tokenizing and planning", [&] { return plan_masked(queries, tokenizer_, limits_); });
  counts_.queries += queries.size();
  within_device_memory("computing batches of " + std::to_string(batch_tokens_) + " tokens",
                       [&] { MaskedCall(*model_, queries, plan, slots_, counts_).run(batch_tokens_); });
  return std::move(plan.answers);
}

std::optional<std::string> MaskedEngine::lacks(query::Prediction asked) const {
  return asked == query::Prediction::masked ? lacks_masks(tokenizer_, limits_) : "it is a masked model";
}

}  // namespace stereosweep::engine
