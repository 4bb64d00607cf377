#include "probes/contexts/vectors/VectorsProbe.hpp"

#include <algorithm>
#include <cmath>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "results/Export.hpp"

namespace stereosweep::probes::contexts {
namespace {

using results::ElementType;

std::vector<WordVectors> words_of(const corpus::Sample& sample) {
  return base::mapped(sample.words, [](const auto& word) {
    return WordVectors{word.word, word.occurrences, word.contexts.size(), 0, {}};
  });
}

std::uint64_t axis_length(const corpus::Sample& sample, const sweep::Job& job) {
  std::uint64_t longest = 1;
  for (const auto& word : sample.words) {
    longest = std::max<std::uint64_t>(longest, word.contexts.size());
  }
  const auto& settings = job.settings<Contexts>();
  if (settings.is_static()) {
    return longest;
  }
  const auto block = static_cast<std::uint64_t>(job.execution.contexts_per_block);
  const auto most = static_cast<std::uint64_t>(settings.contextual().corpus.max_contexts);
  return std::max(longest, std::min(most, (longest + block - 1) / block * block));
}

/// Columns vector, span, status, sentence, problem; outer axes [word, context]. `contexts`: length of that axis.
results::RawSchema vectors_schema(const std::vector<WordVectors>& words, std::uint64_t contexts,
                                  std::uint64_t dimension) {
  results::RawSchema schema;
  schema.outer_axes = {word_axis(words),
                       numbered_axis("context", "context of the word, in the order of the draw", contexts)};
  schema.outer_axes.front().coordinates.pop_back();  // how many are usable is not known yet
  schema.inner_axes = {numbered_axis("dimension", "dimension of the vectors", dimension),
                       {"edge", "edge of a range of bytes", {"begin", "end"}, {}}};
  schema.cubes = {
      cube("vector", ElementType::float32, {"dimension"}, "1", "vector of the word in the context",
           "as the model gives it, not normalised"),
      cube("span", ElementType::int32, {"edge"}, "1", "bytes of the sentence that are the word", "half open; -1: none"),
      cube("status", ElementType::uint8, {}, "", "why the vector is what it is", "",
           {"ok", "no_context", "too_long", "not_finite", "engine_error"}),
      cube("sentence", ElementType::text, {}, "", "text that the model was given"),
      cube("problem", ElementType::text, {}, "", "failure of the engine in this context", "empty: none"),
  };
  return schema;
}

}  // namespace

query::Embed asked_of(const Contexts& settings) {
  query::Embed asked;
  if (settings.is_static()) {
    asked.source = query::VectorSource::input_embedding;
    return asked;
  }
  const auto& vectors = settings.contextual();
  asked.source = vectors.layer ? query::VectorSource::hidden_state : query::VectorSource::sum_of_states;
  asked.layer = static_cast<int>(vectors.layer.value_or(asked.layer));
  asked.pool = vectors.pool;
  return asked;
}

VectorsProbe::VectorsProbe(const sweep::Job& job, std::shared_ptr<const corpus::Sample> sample, std::uint64_t dimension,
                           std::shared_ptr<const StaticTable> table)
    : sample_(std::move(sample)),
      table_(std::move(table)),
      dimension_(dimension),
      settings_(asked_of(job.settings<Contexts>())),
      said_(settings_of_vectors(job.settings<Contexts>())),
      reading_(job.settings<Contexts>().is_static() ? ContextualVectors() : job.settings<Contexts>().contextual()),
      contexts_(axis_length(*sample_, job)),
      words_(words_of(*sample_)),
      blocks_(sweep::Product({words_.size(), contexts_}), static_cast<std::uint64_t>(job.execution.contexts_per_block)),
      schema_(vectors_schema(words_, contexts_, dimension)) {}

std::optional<query::Embed> VectorsProbe::query(std::uint64_t cell) const {
  const auto& contexts = sample_->words[cell / contexts_].contexts;
  if (cell % contexts_ >= contexts.size()) {
    return std::nullopt;
  }
  const auto& whole = contexts[cell % contexts_];
  auto context = reading_.window ? corpus::cut_to_window(whole, *reading_.window) : corpus::cut_as_guo2021(whole);
  auto asked = settings_;
  asked.text = std::move(context.sentence);
  asked.span = context.span;
  return asked;
}

Round VectorsProbe::first(const sweep::Block& block) const {
  Round round;
  for (std::uint64_t i = 0; i < block.num_contexts && !table_; ++i) {
    if (auto asked = query(block.first_context + i)) {
      round.queries.emplace_back(std::move(*asked));
    }
  }
  return round;
}

results::RawBlock VectorsProbe::fold(const sweep::Block& block, const Transcript& transcript) const {
  auto raw = results::unscored_block(schema_, block.num_contexts);
  auto& vectors = column_named<float>(raw, schema_, "vector");
  auto& spans = column_named<std::int32_t>(raw, schema_, "span");
  auto& statuses = column_named<std::uint8_t>(raw, schema_, "status");
  auto& sentences = column_named<std::string>(raw, schema_, "sentence");
  auto& problems = column_named<std::string>(raw, schema_, "problem");
  std::ranges::fill(statuses, static_cast<std::uint8_t>(VectorStatus::no_context));
  std::size_t answered = 0;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const auto asked = query(block.first_context + i);
    if (!asked) {
      continue;
    }
    sentences[i] = asked->text;
    spans[2 * i] = static_cast<std::int32_t>(asked->span.begin);
    spans[2 * i + 1] = static_cast<std::int32_t>(asked->span.end);
    const auto* answer = table_ ? nullptr : &transcript.answers.front().at(answered++);
    if (answer != nullptr && has_failed<VectorStatus>(*answer, statuses[i], problems[i])) {
      continue;
    }
    const auto& vector = answer == nullptr ? (*table_)[(block.first_context + i) / contexts_].vector
                                           : std::get<query::EmbedAnswer>(*answer).vector;
    STEREOSWEEP_ASSERT(vector.size() == dimension_, "a vector has another length");
    const bool finite = std::ranges::all_of(vector, [](float value) { return std::isfinite(value); });
    statuses[i] = static_cast<std::uint8_t>(finite ? VectorStatus::ok : VectorStatus::not_finite);
    if (finite) {
      std::ranges::copy(vector, vectors.begin() + static_cast<std::ptrdiff_t>(i * dimension_));
    }
  }
  return raw;
}

void VectorsProbe::hash_content(const sweep::Block& block, base::Sha256& hash) const {
  hash.field("contexts.vectors 2").field(said_).number(dimension_).number(table_ ? 1 : 0);
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const auto asked = query(block.first_context + i);
    hash.number(asked ? 1 : 0);
    if (asked) {
      hash.field(asked->text).number(asked->span.begin).number(asked->span.end);
    }
    if (asked && table_) {
      hash.update(std::as_bytes(std::span((*table_)[(block.first_context + i) / contexts_].vector)));
    }
  }
}

corpus::Sample static_sample(const std::vector<std::string>& words, const StaticTable* table) {
  corpus::Sample sample;
  sample.max_contexts = 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto& word = sample.words.emplace_back();
    word.word = words[i];
    if (table == nullptr || !(*table)[i].vector.empty()) {
      word.occurrences = 1;
      word.contexts.push_back({" " + words[i], {1, 1 + words[i].size()}, 0, "", 0});
    }
  }
  return sample;
}

}  // namespace stereosweep::probes::contexts
