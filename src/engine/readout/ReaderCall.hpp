// A call of a model that gives hidden states and reads them through a head: what masked and causal calls share.
#pragma once

#include <c10/core/InferenceMode.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/process/Profile.hpp"
#include "engine/OutOfMemory.hpp"
#include "engine/QueryInput.hpp"
#include "engine/readout/HiddenRows.hpp"
#include "engine/readout/Readout.hpp"
#include "query/Engine.hpp"

namespace stereosweep::engine {

/// What an engine lends to its calls.
template <class Model>
struct ReaderParts {
  std::unique_ptr<Model> model;
  const tokenizer::Tokenizer& tokenizer;
  std::int64_t batch_tokens;
  LogitsReader reader;
};

/// The way from queries to what a model takes for one forward pass.
template <class Input>
struct Planning {
  InputPlan (*plan)(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer,
                    const model::ModelShape& shape);
  std::vector<BatchRange> (*cut)(std::span<const Sequence> sequences, std::int64_t budget);
  ForwardBatch<Input> (*pack)(std::span<const Sequence> sequences);
};

template <class Model, class Input>
class ReaderCall : public query::Call {
 public:
  /// Parts and queries are borrowed.
  ReaderCall(const ReaderParts<Model>& parts, std::span<const query::Query> queries, const Planning<Input>& planning)
      : queries_(queries), parts_(parts), queue_(parts.model->shape(), queries.size(), [this](ReaderQueue::Rows rows) {
          return project(std::move(rows));
        }) {
    const base::profile::Span span("tokenizing and planning");
    plan_ = planning.plan(queries, parts.tokenizer, parts.model->shape());
    for (const auto& [first, last] : planning.cut(plan_.sequences, parts.batch_tokens)) {
      batches_.push_back(planning.pack(std::span(plan_.sequences).subspan(first, last - first)));
      cost_.distinct_tokens += batches_.back().input.ids.size();
    }
    cost_.queries = queries.size();
    cost_.distinct_sequences = plan_.sequences.size();
  }

  void run() override {
    const c10::InferenceMode guard;
    const base::profile::Span span("batching");
    const auto& model = *parts_.model;
    within_device_memory("computing batches of " + std::to_string(parts_.batch_tokens) + " tokens", [&] {
      for (const auto& [input, layer, rows, readers] : batches_) {
        queue_.add(base::profile::timed("body", [&] { return model.hidden(input, layer, rows); }), readers);
      }
      queue_.close(plan_.input_rows, [&](auto ids) { return model.input_embeddings(ids); });
    });
  }

  std::vector<query::Answer> read() override {
    const c10::InferenceMode guard;
    const base::profile::Span span("reading");
    queue_.read(plan_.answers);
    return std::move(plan_.answers);
  }
  query::EngineCounts cost() const override { return cost_; }

 protected:
  std::span<const query::Query> queries_;
  InputPlan plan_;
  query::EngineCounts cost_;

 private:
  Later<void> project(ReaderQueue::Rows rows) {
    const auto& model = *parts_.model;
    cost_.head_rows += static_cast<std::uint64_t>(rows.count);
    auto input = rows.hidden;
    if constexpr (requires { model.head_input(input); }) {
      input = model.head_input(input);
    }
    const auto logits = base::profile::timed("head", [&] { return model.logits(input); });
    const base::profile::Span span("reading");
    std::vector<AskedRow> asked;
    for (const auto& [row, use] : rows.uses) {
      const auto* fill = std::get_if<query::Fill>(&queries_[use->query]);
      asked.push_back(fill == nullptr
                          ? AskedRow{row, {&use->token, 1}}
                          : AskedRow{row, fill->slots[use->part].targets, fill->set_distances, fill->class_masses});
    }
    return [this, uses = std::move(rows.uses), found = parts_.reader.read(logits, input, std::move(asked))] {
      auto answers = found();
      for (std::size_t i = 0; i < answers.size(); ++i) {
        write(*uses[i].second, std::move(answers[i]));
      }
    };
  }

  void write(const Use& use, std::optional<query::SlotAnswer> found) {
    auto& answer = plan_.answers[use.query];
    if (std::holds_alternative<query::QueryError>(answer)) {
      return;  // another part of this query already failed
    }
    if (!found) {
      answer = not_finite_error(parts_.model->shape().dtype);
    } else if (auto* fill = std::get_if<query::FillAnswer>(&answer)) {
      fill->slots[use.part] = std::move(*found);
    } else {
      std::get<query::ContinueAnswer>(answer).logprob[use.part][use.place] = found->logprob.front();
    }
  }

  const ReaderParts<Model>& parts_;
  std::vector<ForwardBatch<Input>> batches_;  ///< their readers lie in the plan
  ReaderQueue queue_;
};

}  // namespace stereosweep::engine
