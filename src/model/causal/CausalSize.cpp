#include "model/causal/CausalSize.hpp"

#include <algorithm>
#include <string>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "model/causal/TokenTree.hpp"
#include "model/causal/attention/TreeAttention.hpp"

namespace stereosweep::model {

namespace {

std::uint64_t number(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// Logits are made for so many rows at a time.
constexpr std::uint64_t logits_bytes = std::uint64_t{256} << 20;

/// What reads logits on a GPU: their logarithms, a copy where rows are not behind each other, or that of rows with
/// penalties; weights of draws in float64, three at half as many rows.
constexpr std::uint64_t reading_bytes = 3 * logits_bytes + 3 * logits_bytes / 2;

/// A CUDA context, the kernels that are loaded, cuBLAS's work spaces; NCCL's buffers. Estimates: not measured yet.
constexpr std::uint64_t cuda_bytes = std::uint64_t{512} << 20;
constexpr std::uint64_t nccl_bytes = std::uint64_t{512} << 20;

/// Calls of attention whose parts are alive together: a row's own section and the levels above it.
constexpr std::uint64_t attention_calls = 4;

std::uint64_t memory_on_gpu(const CausalSpecification& model, std::uint64_t bytes_per_number, std::int64_t batch_tokens,
                            int tensor_parallel) {
  // Parts and their sum in float32, copies of keys and values; where paths are gathered, scores, their softmax, and the
  // rows that they are made of.
  const bool levels = model.alibi_slopes.empty() && model.attention_softcap == 0;
  const auto columns = number(model.num_heads / tensor_parallel * model.head_width);
  const auto keys = 2 * columns * number(model.num_key_heads) / number(model.num_heads);
  const auto by_levels =
      columns * (4 + attention_calls * bytes_per_number) + number(most_copies) * keys * bytes_per_number;
  const auto attention = levels ? number(batch_tokens) * by_levels : 3 * number(most_scores_bytes);
  return attention + reading_bytes + cuda_bytes + (tensor_parallel > 1 ? nccl_bytes : 0);
}

/// Bytes of activations that live at once for each token of a batch. On the processor rows go through a layer some
/// hundred at a time; on a GPU the whole batch does, in the body's type, and what a layer has done with stays until its
/// end.
std::uint64_t activation_bytes(const CausalSpecification& model, const CausalSize& size, std::uint64_t bytes_per_number,
                               Place place, int tensor_parallel) {
  if (place == Place::processor) {
    return size.activations * 4;
  }
  const auto hidden = number(model.hidden);
  const auto keys = number(model.num_key_heads * model.head_width);
  const auto used = model.experts.count > 0 ? number(model.experts.per_token) : 0;
  // Two more norms or sums; keys and values where attention reads them; an inner layer before its activation (gated: it
  // is counted); each expert's input, its answer, and the answers of all side by side.
  const auto more = 2 * hidden + 2 * keys + (model.gated ? 0 : number(model.inner)) + 3 * used * hidden;
  const auto sums = used > 0 || tensor_parallel > 1 ? hidden * 4 : 0;  // float32
  return (size.activations + more) * bytes_per_number + sums;
}

}  // namespace

CausalSize size_of(const CausalSpecification& model) {
  const auto layers = number(static_cast<std::int64_t>(model.layers.size()));
  const auto experts = number(std::max<std::int64_t>(1, model.experts.count));
  const auto used = model.experts.count > 0 ? number(model.experts.per_token) : 1;
  const auto keys = number(model.num_key_heads * model.head_width);
  const auto queries = number(model.num_heads * model.head_width);
  const auto hidden = number(model.hidden);
  const auto attention = hidden * (2 * queries + 2 * keys);
  const auto feed_forward = hidden * number(model.inner) * (model.gated ? 3 : 2);  // one expert, or the only one
  const auto router = hidden * number(model.experts.count);
  CausalSize size;
  size.embedding = number(model.vocabulary * model.hidden) * (model.tied_head ? 1 : 2);
  if (!model.names.positions.empty()) {
    size.embedding += number((model.max_tokens + model.first_position) * model.hidden);
  }
  size.layers = layers * (attention + router + experts * feed_forward);
  size.key_values = layers * 2 * keys;
  // State, its norm, the sum in work; queries, keys, values and what attention mixes; the feed-forward layer.
  size.activations = 3 * hidden + 2 * queries + 2 * keys + used * number(model.inner) * (model.gated ? 3 : 1);
  return size;
}

RankMemory memory_of(const CausalSpecification& model, std::uint64_t bytes_per_number, const Load& load,
                     int tensor_parallel) {
  const auto size = size_of(model);
  const auto ranks = number(tensor_parallel);
  auto layers = size.layers / ranks;
  if (tensor_parallel > model.num_key_heads) {  // key heads are repeated instead of cut
    const auto keys = size.key_values * number(model.hidden);
    layers += keys / number(model.num_key_heads) - keys / ranks;
  }
  RankMemory memory;
  memory.tensor_parallel = tensor_parallel;
  memory.weights = (size.embedding + layers) * bytes_per_number;
  memory.activations =
      number(load.batch_tokens) * activation_bytes(model, size, bytes_per_number, load.place, tensor_parallel) +
      logits_bytes;
  const auto key_ranks = number(std::min<std::int64_t>(tensor_parallel, model.num_key_heads));
  const auto padded = number(whole_blocks(model.head_width)) * (size.key_values / number(model.head_width));
  memory.kept =
      (number(load.kept.all) * (padded / key_ranks) + number(load.kept.prompts * model.hidden)) * bytes_per_number;
  memory.gpu =
      load.place == Place::gpu ? memory_on_gpu(model, bytes_per_number, load.batch_tokens, tensor_parallel) : 0;
  return memory;
}

std::vector<int> tensor_parallel_choices(const CausalSpecification& model, int most) {
  std::vector<int> choices;
  for (int ranks = 1; ranks <= most; ++ranks) {
    const bool keys_fit = model.num_key_heads % ranks == 0 || ranks % model.num_key_heads == 0;
    const bool is_cut = ranks > 1;
    // A norm over all heads would need a sum over the ranks of its own.
    const bool norm_fits = !is_cut || model.query_key_norm != QueryKeyNorm::whole;
    if (model.num_heads % ranks == 0 && model.inner % ranks == 0 && keys_fit && norm_fits) {
      choices.push_back(ranks);
    }
  }
  return choices;
}

std::optional<RankMemory> smallest_group(const CausalSpecification& model, std::uint64_t bytes_per_number,
                                         const Load& load, std::uint64_t memory_per_rank) {
  for (const int ranks : tensor_parallel_choices(model)) {
    const auto memory = memory_of(model, bytes_per_number, load, ranks);
    if (memory.total() <= memory_per_rank) {
      return memory;
    }
  }
  return std::nullopt;
}

CausalSpecification slice_of(const CausalSpecification& whole, TensorSlice slice) {
  if (slice.count == 1) {
    return whole;
  }
  const auto choices = tensor_parallel_choices(whole, slice.count);
  if (!base::contains(choices, slice.count)) {
    const auto possible = base::join(base::mapped(choices, [](int count) { return std::to_string(count); }), ", ");
    const auto why = whole.query_key_norm == QueryKeyNorm::whole
                         ? std::string("its norm of queries and keys runs over all heads")
                         : "it has " + std::to_string(whole.num_heads) + " query heads, " +
                               std::to_string(whole.num_key_heads) + " key heads and " + std::to_string(whole.inner) +
                               " inner numbers";
    base::refuse("the model cannot be cut into " + std::to_string(slice.count) + " slices", why,
                 "execution.tensor_parallel can be " + possible);
  }
  auto part = whole;
  part.num_heads = whole.num_heads / slice.count;
  part.num_key_heads = std::max<std::int64_t>(1, whole.num_key_heads / slice.count);
  part.inner = whole.inner / slice.count;
  if (!whole.alibi_slopes.empty()) {
    const auto first = whole.alibi_slopes.begin() + slice.index * part.num_heads;
    part.alibi_slopes.assign(first, first + part.num_heads);
  }
  return part;
}

std::int64_t first_key_head(const BodySettings& whole, TensorSlice slice) {
  return slice.index * whole.num_key_heads / slice.count;
}

}  // namespace stereosweep::model
