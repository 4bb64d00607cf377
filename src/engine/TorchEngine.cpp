#include "engine/TorchEngine.hpp"

#include <ATen/ops/cat.h>
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
      forward(batch);
    }
    while (!waiting_.empty()) {
      project();
    }
    finish_vectors();
  }

 private:
  // A row of hidden states and who reads it.
  struct Reader {
    std::int64_t row;
    std::span<const Use> uses;
  };

  void forward(const BatchRange& range) {
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
        note_readers(std::ssize(rows), uses.subspan(first, last - first), heads, vectors);
        rows.push_back(start + uses[first].position);
        first = last;
      }
      batch.ids.insert(batch.ids.end(), sequence.ids.begin(), sequence.ids.end());
      batch.lengths.push_back(static_cast<std::int32_t>(sequence.ids.size()));
    }
    counts_.distinct_sequences += batch.lengths.size();
    counts_.distinct_tokens += batch.ids.size();
    const auto hidden = model_.hidden(batch, plan_.sequences[range.first].layer, rows);
    if (!vectors.empty()) {
      add_vectors(on_host(hidden), vectors);
    }
    if (!heads.empty()) {
      wait_for_head(hidden, heads);
    }
  }

  static void note_readers(std::int64_t row, std::span<const Use> uses, std::vector<Reader>& heads,
                           std::vector<Reader>& vectors) {
    const auto is_vector = [](const Use& use) { return use.slot == Use::whole_vector; };
    if (std::any_of(uses.begin(), uses.end(), is_vector)) {
      vectors.push_back({row, uses});
    }
    if (!std::all_of(uses.begin(), uses.end(), is_vector)) {
      heads.push_back({row, uses});
    }
  }

  void wait_for_head(const at::Tensor& hidden, const std::vector<Reader>& heads) {
    for (const auto& reader : heads) {
      waiting_.push_back(reader.uses);
    }
    if (std::ssize(heads) == hidden.size(0)) {
      hidden_.push_back(hidden);
    } else {
      std::vector<at::Tensor> picked;
      for (const auto& reader : heads) {
        picked.push_back(hidden.narrow(0, reader.row, 1));
      }
      hidden_.push_back(at::cat(picked));
    }
    while (std::ssize(waiting_) >= projection_rows_) {
      project();
    }
  }

  // Projects the oldest waiting rows and reads their slots.
  void project() {
    const auto count = std::min(projection_rows_, static_cast<std::int64_t>(waiting_.size()));
    const auto all = hidden_.size() == 1 ? hidden_.front() : at::cat(hidden_);
    hidden_.assign(1, all.narrow(0, count, all.size(0) - count));
    const auto head_input = model_.head_input(all.narrow(0, 0, count));
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
