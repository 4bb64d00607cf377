#include "engine/masked/MaskedEngine.hpp"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/process/Profile.hpp"
#include "engine/OutOfMemory.hpp"
#include "engine/readout/HiddenRows.hpp"

namespace stereosweep::engine {

namespace {

using base::profile::timed;

// Numbers of rows are few, because kernels are compiled for each. (On the CPU the model itself fills up to 32.)
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

// One forward pass.
struct MaskedBatch {
  model::Packed input;
  int layer = 0;
  std::vector<std::int64_t> rows;       // whose hidden states come out: sorted, distinct
  std::vector<RowReader<Use>> readers;  // by row of these
  std::size_t sequences = 0;            // without fillers
  std::size_t tokens = 0;
};

MaskedBatch make_masked_batch(std::span<const Sequence> sequences, std::int64_t budget, std::int64_t max_tokens) {
  MaskedBatch batch;
  auto& input = batch.input;
  std::vector<std::int64_t> rows;
  for (const auto& sequence : sequences) {
    for (const auto& [position, uses] : readers_of<Use>(sequence.uses, &Use::position)) {
      rows.push_back(std::ssize(input.ids) + position);
      batch.readers.push_back({rows.back(), uses});
    }
    input.ids.insert(input.ids.end(), sequence.ids.begin(), sequence.ids.end());
    input.lengths.push_back(static_cast<std::int32_t>(sequence.ids.size()));
  }
  batch.layer = sequences.front().layer;
  batch.sequences = sequences.size();
  batch.tokens = input.ids.size();
  fill_up(input, filled_size(std::ssize(input.ids), budget), max_tokens);
  batch.rows = with_spare_rows(rows, std::ssize(input.ids));
  for (auto& reader : batch.readers) {  // from tokens of the batch to rows of the result
    reader.row = std::lower_bound(batch.rows.begin(), batch.rows.end(), reader.row) - batch.rows.begin();
  }
  return batch;
}

// What calls work with; borrowed from their engine.
struct MaskedParts {
  const model::MaskedModel& model;
  const tokenizer::Tokenizer& tokenizer;
  const InputLimits& limits;
  const std::optional<SlotsReader>& slots;
  std::int64_t batch_tokens;
};

class MaskedCall : public query::Call {
 public:
  MaskedCall(const MaskedParts& parts, std::span<const query::Query> queries)
      : parts_(parts),
        model_(parts.model),
        queries_(queries),
        plan_(plan_masked(queries, parts.tokenizer, parts.limits)),
        queue_(model_.shape(), queries.size(), [this](Queue::Rows rows) { return project(std::move(rows)); }) {
    cost_.queries = queries.size();
    const std::span<const Sequence> all = plan_.sequences;
    for (const auto& range : cut_batches(all, parts.batch_tokens)) {
      batches_.push_back(make_masked_batch(all.subspan(range.first, range.last - range.first), parts.batch_tokens,
                                           model_.shape().max_tokens));
      cost_.distinct_sequences += batches_.back().sequences;
      cost_.distinct_tokens += batches_.back().tokens;
    }
  }

  void run() override {
    const c10::InferenceMode guard;
    const base::profile::Span span("batching");
    within_device_memory("computing batches of " + std::to_string(parts_.batch_tokens) + " tokens", [&] {
      for (const auto& [input, layer, rows, readers, sequences, tokens] : batches_) {
        queue_.add(timed("body", [&] { return model_.hidden(input, layer, rows); }), readers);
      }
      queue_.close(plan_.input_rows, [this](auto ids) { return model_.input_embeddings(ids); });
    });
  }

  std::vector<query::Answer> read() override {
    const c10::InferenceMode guard;
    const base::profile::Span span("reading");
    queue_.read(plan_.answers);
    return std::move(plan_.answers);
  }
  query::EngineCounts cost() const override { return cost_; }

 private:
  using Queue = ReaderQueue<Use>;

  Later<void> project(Queue::Rows rows) {
    const auto head_input = model_.head_input(rows.hidden);
    cost_.head_rows += static_cast<std::uint64_t>(rows.count);
    const auto logits = timed("head", [&] { return model_.logits(head_input); });
    const base::profile::Span span("reading");
    std::vector<SlotAtRow> asked;
    for (const auto& [row, use] : rows.uses) {
      const auto& fill = std::get<query::Fill>(queries_[use->query]);
      asked.push_back({row, &fill, &fill.slots[static_cast<std::size_t>(use->slot)]});
    }
    auto slots = parts_.slots->read(logits, head_input, std::move(asked));
    return [this, uses = std::move(rows.uses), slots = std::move(slots)] { write(uses, slots()); };
  }

  void write(const std::vector<std::pair<std::int64_t, const Use*>>& uses, SlotsReader::Answers slots) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto& use = *uses[i].second;
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

  MaskedParts parts_;
  const model::MaskedModel& model_;
  std::span<const query::Query> queries_;
  MaskedPlan plan_;
  std::vector<MaskedBatch> batches_;  // their readers lie in the plan
  query::EngineCounts cost_;
  Queue queue_;
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

std::unique_ptr<query::Call> MaskedEngine::plan(std::span<const query::Query> queries) const {
  const base::profile::Span span("tokenizing and planning");
  const MaskedParts parts{*model_, tokenizer_, limits_, slots_, batch_tokens_};
  return std::make_unique<MaskedCall>(parts, queries);
}

std::optional<std::string> MaskedEngine::lacks(query::Prediction asked) const {
  return asked == query::Prediction::masked ? lacks_masks(tokenizer_, limits_) : "it is a masked model";
}

}  // namespace stereosweep::engine
