#include "engine/masked/MaskedEngine.hpp"

#include <utility>

#include "engine/readout/ReaderCall.hpp"

namespace stereosweep::engine {

struct MaskedParts : ReaderParts<model::MaskedModel> {};

namespace {

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
