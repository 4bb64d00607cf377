#include "engine/masked/MaskedEngine.hpp"

#include <c10/core/InferenceMode.h>

#include <string>
#include <utility>

#include "base/process/Profile.hpp"
#include "engine/OutOfMemory.hpp"
#include "engine/readout/HiddenRows.hpp"
#include "engine/readout/Readout.hpp"

namespace stereosweep::engine {

struct MaskedParts {
  std::unique_ptr<model::MaskedModel> model;
  const tokenizer::Tokenizer& tokenizer;
  std::int64_t batch_tokens;
  InputLimits limits = limits_of(model->shape());
  std::optional<SlotsReader> slots = {};  // of a model with a head
};

namespace {

using base::profile::timed;

// One forward pass.
struct MaskedBatch {
  model::Packed input;
  int layer = 0;
  std::vector<std::int64_t> rows;  // whose hidden states come out: sorted, distinct
  std::vector<RowReader> readers;  // by row of these
};

MaskedBatch make_masked_batch(std::span<const Sequence> sequences) {
  MaskedBatch batch;
  auto& input = batch.input;
  for (const auto& sequence : sequences) {
    for (const auto& [position, uses] : readers_of(sequence.uses)) {
      batch.readers.push_back({std::ssize(batch.rows), uses});
      batch.rows.push_back(std::ssize(input.ids) + position);
    }
    input.ids.insert(input.ids.end(), sequence.ids.begin(), sequence.ids.end());
    input.lengths.push_back(static_cast<std::int32_t>(sequence.ids.size()));
  }
  batch.layer = sequences.front().layer;
  return batch;
}

class MaskedCall : public query::Call {
 public:
  MaskedCall(const MaskedParts& parts, std::span<const query::Query> queries)
      : parts_(parts),
        model_(*parts.model),
        queries_(queries),
        plan_(plan_masked(queries, parts.tokenizer, parts.limits)),
        queue_(model_.shape(), queries.size(), [this](ReaderQueue::Rows rows) { return project(std::move(rows)); }) {
    cost_.queries = queries.size();
    const std::span<const Sequence> all = plan_.sequences;
    for (const auto& range : cut_batches(all, parts.batch_tokens)) {
      batches_.push_back(make_masked_batch(all.subspan(range.first, range.last - range.first)));
      cost_.distinct_sequences += range.last - range.first;
      cost_.distinct_tokens += batches_.back().input.ids.size();
    }
  }

  void run() override {
    const c10::InferenceMode guard;
    const base::profile::Span span("batching");
    within_device_memory("computing batches of " + std::to_string(parts_.batch_tokens) + " tokens", [&] {
      for (const auto& [input, layer, rows, readers] : batches_) {
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
  Later<void> project(ReaderQueue::Rows rows) {
    const auto head_input = model_.head_input(rows.hidden);
    cost_.head_rows += static_cast<std::uint64_t>(rows.count);
    const auto logits = timed("head", [&] { return model_.logits(head_input); });
    const base::profile::Span span("reading");
    std::vector<SlotAtRow> asked;
    for (const auto& [row, use] : rows.uses) {
      const auto& fill = std::get<query::Fill>(queries_[use->query]);
      asked.push_back({row, &fill, &fill.slots[use->part]});
    }
    auto slots = parts_.slots->read(logits, head_input, std::move(asked));
    return [this, uses = std::move(rows.uses), slots = std::move(slots)] { write(uses, slots()); };
  }

  void write(const std::vector<UseAtRow>& uses, SlotsReader::Answers slots) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto& use = *uses[i].second;
      auto* answer = std::get_if<query::FillAnswer>(&plan_.answers[use.query]);
      if (answer == nullptr) {
        continue;  // another slot of this query already failed
      }
      if (slots[i]) {
        answer->slots[use.part] = std::move(*slots[i]);
      } else {
        plan_.answers[use.query] = not_finite_error(model_.shape().dtype);
      }
    }
  }

  const MaskedParts& parts_;
  const model::MaskedModel& model_;
  std::span<const query::Query> queries_;
  InputPlan plan_;
  std::vector<MaskedBatch> batches_;  // their readers lie in the plan
  query::EngineCounts cost_;
  ReaderQueue queue_;
};

}  // namespace

MaskedEngine::MaskedEngine(std::unique_ptr<model::MaskedModel> model, const tokenizer::Tokenizer& tokenizer,
                           std::int64_t batch_tokens) {
  auto parts = std::make_shared<MaskedParts>(MaskedParts{std::move(model), tokenizer, batch_tokens});
  if (parts->limits.has_head) {
    const ClassMask classes(tokenizer.classes(), static_cast<std::size_t>(parts->limits.vocabulary));
    parts->slots.emplace(classes, parts->model->decoder_bias(), parts->model->shape().kernels);
  }
  parts_ = std::move(parts);
}

std::unique_ptr<query::Call> MaskedEngine::plan(std::span<const query::Query> queries) const {
  const base::profile::Span span("tokenizing and planning");
  return std::make_unique<MaskedCall>(*parts_, queries);
}

std::optional<std::string> MaskedEngine::lacks(query::Prediction asked) const {
  return asked == query::Prediction::masked ? lacks_masks(parts_->tokenizer, parts_->limits) : "it is a masked model";
}

}  // namespace stereosweep::engine
