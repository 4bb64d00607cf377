#include "engine/TorchEngine.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/Error.hpp"
#include "engine/RowReadout.hpp"

namespace stereosweep::engine {
namespace {

// Rows that wait for the vocabulary projection: more rows a product are better, more logits than caches hold are not.
constexpr std::int64_t rows_per_projection = 128;
constexpr std::int64_t logits_per_projection = std::int64_t{1} << 25;
// oneDNN compiles its kernels for each number of rows, some milliseconds each: so these numbers are kept few.
constexpr std::int64_t last_layer_unit = 64;  // rows of one layer only: fillers cost next to nothing
constexpr std::int64_t projection_unit = 32;

std::int64_t rounded_up(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; }

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

const char* const not_finite = "the model's numbers are not finite";
const char* const overflow = "a value overflowed in its layers";

MaskedLimits limits_of(const model::EncoderShape& shape) {
  return {shape.num_layers, shape.vocabulary, shape.max_tokens, shape.has_head};
}

at::Tensor on_host(const at::Tensor& tensor) { return tensor.to(at::kCPU, at::kFloat).contiguous(); }

std::span<const float> row_of(const at::Tensor& matrix, std::int64_t row) {
  return {matrix.const_data_ptr<float>() + row * matrix.size(1), static_cast<std::size_t>(matrix.size(1))};
}

// The work of one call.
class Call {
 public:
  Call(const model::MaskedModel& model, std::span<const query::Query> queries, MaskedPlan& plan,
       const ClassMask& classes, std::span<const float> bias, query::EngineCounts& counts)
      : model_(model),
        queries_(queries),
        plan_(plan),
        classes_(classes),
        bias_(bias),
        counts_(counts),
        projection_rows_(std::clamp<std::int64_t>(
            logits_per_projection / std::max<std::int64_t>(1, model.shape().vocabulary), 1, rows_per_projection)) {}

  void run(std::int64_t batch_tokens) {
    for (const auto& batch : cut_batches(plan_.sequences, batch_tokens)) {
      forward(batch, batch_tokens);
    }
    while (!waiting_.empty()) {
      project();
    }
    finish_vectors();
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
    const auto hidden = model_.hidden(batch, plan_.sequences[range.first].layer, rows);
    if (!vectors.empty()) {
      add_vectors(on_host(hidden), vectors);
    }
    if (!heads.empty()) {
      wait_for_head(hidden, heads);
    }
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
    auto picked = at::empty({std::ssize(heads)}, at::TensorOptions(at::kLong));
    for (std::size_t i = 0; i < heads.size(); ++i) {
      waiting_.push_back(heads[i].uses);
      picked.mutable_data_ptr<std::int64_t>()[i] = heads[i].row;
    }
    hidden_.push_back(at::index_select(hidden, 0, picked.to(hidden.device())));
    while (std::ssize(waiting_) >= projection_rows_) {
      project();
    }
  }

  // Projects the oldest waiting rows and reads their slots.
  void project() {
    const auto count = std::min(projection_rows_, static_cast<std::int64_t>(waiting_.size()));
    const auto all = hidden_.size() == 1 ? hidden_.front() : at::cat(hidden_);
    hidden_.assign(1, all.narrow(0, count, all.size(0) - count));
    auto rows = all.narrow(0, 0, count);
    if (const auto spare = rounded_up(count, projection_unit) - count; spare > 0) {
      rows = at::cat({rows, at::zeros({spare, rows.size(1)}, rows.options())});
    }
    const auto head_input = model_.head_input(rows);
    const auto logits = on_host(model_.logits(head_input));
    const auto inputs = on_host(head_input);
    for (std::int64_t row = 0; row < count; ++row) {
      RowReadout readout(row_of(logits, row), row_of(inputs, row), bias_, classes_);
      for (const auto& use : waiting_[static_cast<std::size_t>(row)]) {
        if (use.slot != Use::whole_vector) {
          read_slot(readout, use);
        }
      }
    }
    counts_.head_rows += static_cast<std::uint64_t>(count);
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    if (waiting_.empty()) {
      hidden_.clear();
    }
  }

  void read_slot(RowReadout& readout, const Use& use) {
    auto* answer = std::get_if<query::FillAnswer>(&plan_.answers[use.query]);
    if (answer == nullptr) {
      return;  // another slot of this query already failed
    }
    if (!readout.usable()) {
      plan_.answers[use.query] = query::QueryError{base::describe(not_finite, overflow), query::QueryFault::other};
      return;
    }
    const auto& fill = std::get<query::Fill>(queries_[use.query]);
    const auto slot = static_cast<std::size_t>(use.slot);
    readout.read(fill, fill.slots[slot], answer->slots[slot]);
  }

  // The tokens of one span lie in one sequence, hence in one batch; sums in float64 wait for their division.
  void add_vectors(const at::Tensor& hidden, const std::vector<Reader>& readers) {
    for (const auto& reader : readers) {
      const auto row = row_of(hidden, reader.row);
      for (const auto& use : reader.uses) {
        if (use.slot != Use::whole_vector) {
          continue;
        }
        if (pools_.empty()) {
          pools_.resize(queries_.size());
        }
        auto& pool = pools_[use.query];
        pool.sums.resize(row.size());
        pool.count += 1;
        for (std::size_t i = 0; i < row.size(); ++i) {
          pool.sums[i] += row[i];
        }
      }
    }
  }

  void finish_vectors() {
    for (std::size_t query = 0; query < pools_.size(); ++query) {
      auto& pool = pools_[query];
      if (pool.count == 0) {
        continue;
      }
      query::EmbedAnswer answer;
      answer.vector.reserve(pool.sums.size());
      bool finite = true;
      for (const double sum : pool.sums) {
        finite = finite && std::isfinite(sum);
        answer.vector.push_back(static_cast<float>(sum / pool.count));
      }
      if (finite) {
        plan_.answers[query] = std::move(answer);
      } else {
        plan_.answers[query] = query::QueryError{base::describe(not_finite, overflow), query::QueryFault::other};
      }
    }
  }

  struct Pool {
    std::vector<double> sums;  ///< [hidden]
    double count = 0;          ///< tokens
  };

  const model::MaskedModel& model_;
  std::span<const query::Query> queries_;
  MaskedPlan& plan_;
  const ClassMask& classes_;
  std::span<const float> bias_;
  query::EngineCounts& counts_;
  std::int64_t projection_rows_;
  std::vector<at::Tensor> hidden_;             ///< together as many rows as `waiting_`
  std::vector<std::span<const Use>> waiting_;  ///< readers of each row
  std::vector<Pool> pools_;                    ///< by query, once there is one
};

}  // namespace

TorchEngine::TorchEngine(std::unique_ptr<model::MaskedModel> model, const tokenizer::Tokenizer& tokenizer,
                         std::int64_t batch_tokens)
    : model_(std::move(model)),
      tokenizer_(tokenizer),
      batch_tokens_(batch_tokens),
      limits_(limits_of(model_->shape())),
      classes_(tokenizer.classes(), static_cast<std::size_t>(limits_.vocabulary)) {
  if (limits_.has_head) {
    const auto bias = on_host(model_->decoder_bias());
    bias_.assign(bias.const_data_ptr<float>(), bias.const_data_ptr<float>() + bias.numel());
  }
}

std::vector<query::Answer> TorchEngine::answer(std::span<const query::Query> queries) {
  const c10::InferenceMode guard;
  auto plan = plan_masked(queries, tokenizer_, limits_);
  counts_.queries += queries.size();
  Call(*model_, queries, plan, classes_, bias_, counts_).run(batch_tokens_);
  return std::move(plan.answers);
}

}  // namespace stereosweep::engine
