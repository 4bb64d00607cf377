#include "engine/masked/MaskedEngine.hpp"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/Profile.hpp"
#include "engine/Memory.hpp"
#include "engine/readout/ProjectionQueue.hpp"
#include "engine/readout/VectorPools.hpp"

namespace stereosweep::engine {

namespace {

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

MaskedLimits limits_of(const model::MaskedShape& shape) {
  return {shape.num_layers, shape.vocabulary, shape.max_tokens, shape.has_head};
}

// The work of one call.
class Call {
 public:
  Call(const model::MaskedModel& model, std::span<const query::Query> queries, MaskedPlan& plan,
       const std::optional<SlotsReader>& slots, query::EngineCounts& counts)
      : model_(model),
        queries_(queries),
        plan_(plan),
        counts_(counts),
        projection_(model.shape().vocabulary, model.shape().kernels),
        slots_(slots) {}

  void run(std::int64_t batch_tokens) {
    for (const auto& batch : cut_batches(plan_.sequences, batch_tokens)) {
      forward(batch, batch_tokens);
    }
    while (!waiting_.empty()) {
      project();
    }
    add_input_vectors(
        plan_.input_rows, queries_.size(), [this](auto ids) { return model_.input_embeddings(ids); }, pools_);
    pools_.finish(plan_.answers, model_.shape().dtype);
  }

 private:
  // Who reads a token of the batch, later a row of the hidden states.
  struct Reader {
    std::int64_t row;
    std::span<const Use> uses;
  };

  void forward(const BatchRange& range, std::int64_t batch_tokens) {
    model::Packed batch;
    std::vector<std::int64_t> rows;
    std::vector<Reader> heads;
    std::vector<Reader> vectors;
    for (std::size_t i = range.first; i < range.last; ++i) {
      const auto& sequence = plan_.sequences[i];
      const auto start = std::ssize(batch.ids);
      const std::span<const Use> uses = sequence.uses;
      for (std::size_t first = 0; first < uses.size();) {  // uses of one position: vectors, then slots by query
        std::size_t last = first;
        while (last < uses.size() && uses[last].position == uses[first].position) {
          ++last;
        }
        note_readers(start + uses[first].position, uses.subspan(first, last - first), heads, vectors);
        rows.push_back(start + uses[first].position);
        first = last;
      }
      batch.ids.insert(batch.ids.end(), sequence.ids.begin(), sequence.ids.end());
      batch.lengths.push_back(static_cast<std::int32_t>(sequence.ids.size()));
    }
    counts_.distinct_sequences += batch.lengths.size();
    counts_.distinct_tokens += batch.ids.size();
    fill_up(batch, filled_size(std::ssize(batch.ids), batch_tokens), model_.shape().max_tokens);
    rows = with_spare_rows(rows, std::ssize(batch.ids));
    for (auto* readers : {&heads, &vectors}) {  // from tokens of the batch to rows of the result
      for (auto& reader : *readers) {
        reader.row = std::lower_bound(rows.begin(), rows.end(), reader.row) - rows.begin();
      }
    }
    const auto hidden = run_body(batch, plan_.sequences[range.first].layer, rows);
    if (!vectors.empty()) {
      add_vectors(on_host(hidden), vectors);
    }
    if (!heads.empty()) {
      wait_for_head(hidden, heads);
    }
  }

  at::Tensor run_body(const model::Packed& batch, int layer, std::span<const std::int64_t> rows) const {
    const base::profile::Span span("body");
    return model_.hidden(batch, layer, rows);
  }

  at::Tensor run_head(const at::Tensor& head_input) const {
    const base::profile::Span span("head");
    return model_.logits(head_input);
  }

  static void note_readers(std::int64_t token, std::span<const Use> uses, std::vector<Reader>& heads,
                           std::vector<Reader>& vectors) {
    const auto is_vector = [](const Use& use) { return use.slot == Use::whole_vector; };
    if (std::any_of(uses.begin(), uses.end(), is_vector)) {
      vectors.push_back({token, uses});
    }
    if (!std::all_of(uses.begin(), uses.end(), is_vector)) {
      heads.push_back({token, uses});
    }
  }

  void wait_for_head(const at::Tensor& hidden, const std::vector<Reader>& heads) {
    std::vector<std::int64_t> rows;
    for (const auto& head : heads) {
      waiting_.push_back(head.uses);
      rows.push_back(head.row);
    }
    projection_.add(hidden, rows);
    while (projection_.is_full()) {
      project();
    }
  }

  // Projects the oldest waiting rows and reads their slots.
  void project() {
    const auto [rows, count] = projection_.take();
    const auto head_input = model_.head_input(rows);
    counts_.head_rows += static_cast<std::uint64_t>(count);
    read(run_head(head_input), head_input, count);
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  }

  void read(const at::Tensor& logits, const at::Tensor& head_input, std::int64_t count) {
    const base::profile::Span span("reading");
    std::vector<SlotAtRow> asked;
    std::vector<const Use*> uses;
    for (std::int64_t row = 0; row < count; ++row) {
      for (const auto& use : waiting_[static_cast<std::size_t>(row)]) {
        if (use.slot != Use::whole_vector) {
          const auto& fill = std::get<query::Fill>(queries_[use.query]);
          asked.push_back({row, &fill, &fill.slots[static_cast<std::size_t>(use.slot)]});
          uses.push_back(&use);
        }
      }
    }
    auto slots = slots_->read(logits, head_input, asked);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      auto* answer = std::get_if<query::FillAnswer>(&plan_.answers[uses[i]->query]);
      if (answer == nullptr) {
        continue;  // another slot of this query already failed
      }
      if (slots[i]) {
        answer->slots[static_cast<std::size_t>(uses[i]->slot)] = std::move(*slots[i]);
      } else {
        plan_.answers[uses[i]->query] = not_finite_error(model_.shape().dtype);
      }
    }
  }

  // The tokens of one span lie in one sequence, hence in one batch.
  void add_vectors(const at::Tensor& hidden, const std::vector<Reader>& readers) {
    for (const auto& reader : readers) {
      for (const auto& use : reader.uses) {
        if (use.slot == Use::whole_vector) {
          pools_.add(use.query, queries_.size(), row_of(hidden, reader.row));
        }
      }
    }
  }

  const model::MaskedModel& model_;
  std::span<const query::Query> queries_;
  MaskedPlan& plan_;
  query::EngineCounts& counts_;
  ProjectionQueue projection_;
  const std::optional<SlotsReader>& slots_;
  std::vector<std::span<const Use>> waiting_;  ///< readers of each row of `projection_`
  VectorPools pools_;
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

MaskedPlan MaskedEngine::planned(std::span<const query::Query> queries) const {
  const base::profile::Span span("tokenizing and planning");
  return plan_masked(queries, tokenizer_, limits_);
}

std::vector<query::Answer> MaskedEngine::answer(std::span<const query::Query> queries) {
  const c10::InferenceMode guard;
  const base::profile::Span span("batching");
  auto plan = planned(queries);
  counts_.queries += queries.size();
  within_device_memory("computing batches of " + std::to_string(batch_tokens_) + " tokens",
                       [&] { Call(*model_, queries, plan, slots_, counts_).run(batch_tokens_); });
  return std::move(plan.answers);
}

std::optional<std::string> MaskedEngine::lacks(query::Prediction asked) const {
  return asked == query::Prediction::masked ? lacks_masks(tokenizer_, limits_) : "it is a masked model";
}

}  // namespace stereosweep::engine
