#include "model/causal/CausalWeights.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/text/Text.hpp"
#include "model/checkpoint/TensorReader.hpp"

namespace stereosweep::model {

namespace {

using base::describe;
using base::json_quote;

class CausalReader {
 public:
  CausalReader(TensorReader& reader, const CausalSpecification& specification, TensorSlice slice)
      : reader_(reader),
        specification_(specification),
        names_(specification.names),
        slice_(slice),
        own_(slice_of(specification, slice)) {
    for (const auto& prefix : names_.prefixes) {
      if (prefix_.empty() && reader.has_any(prefix)) {
        prefix_ = prefix;
      }
    }
    for (const auto& head : names_.heads) {
      if (head_.empty() && reader.has(head + ".weight")) {
        head_ = head;
      }
    }
  }

  CausalWeights read() {
    const auto hidden = specification_.hidden;
    CausalWeights weights;
    weights.words = reader_.take(words_name(), {specification_.vocabulary, hidden});
    if (specification_.position == PositionKind::learned) {
      weights.positions = reader_.take(prefix_ + names_.positions + ".weight",
                                       {specification_.max_tokens + specification_.first_position, hidden});
    }
    const auto count = specification_.layers.size();
    for (std::size_t index = 0; index < count; ++index) {
      scope_ = prefix_ + names_.layers + std::to_string(index) + ".";
      weights.layers.push_back(layer(index + 1 < count ? Place::before_the_last : Place::last));
    }
    if (specification_.final_norm) {
      weights.final_norm = norm(prefix_ + names_.final_norm, hidden);
    }
    read_head(weights);
    reader_.check_left([this](const std::string& name) { return is_harmless(name); });
    return weights;
  }

 private:
  enum class Place { before_the_last, last };
  enum class Bias { none, stored };
  static Bias bias_if(bool stored) { return stored ? Bias::stored : Bias::none; }

  // Tied matrices may be stored under either name.
  std::string words_name() const {
    const auto own = prefix_ + names_.words + ".weight";
    return !reader_.has(own) && !head_.empty() && specification_.tied_head ? head_ + ".weight" : own;
  }

  Norm norm(const std::string& name, std::int64_t width) {
    return {reader_.take(name + ".weight", {width}),
            specification_.norm == NormKind::layer ? reader_.take(name + ".bias", {width}) : at::Tensor()};
  }

  std::optional<Norm> layer_norm(const std::string& name, std::int64_t width) {
    return name.empty() ? std::nullopt : std::optional(norm(scope_ + name, width));
  }

  at::Tensor matrix(const std::string& name, std::int64_t out, std::int64_t in) {
    return names_.order == MatrixOrder::out_in ? reader_.take(name + ".weight", {out, in})
                                               : reader_.take(name + ".weight", {in, out}).t().contiguous();
  }

  at::Tensor bias(const std::string& name, std::int64_t out, Bias stored) {
    return stored == Bias::stored ? reader_.take(name + ".bias", {out}) : at::Tensor();
  }

  // Matrices (or biases: `in` 0) of one input below each other, so that one product does the work of all: [sum of rows,
  // in]. Shapes are checked before memory is taken.
  at::Tensor stacked(const std::vector<std::string>& names, const std::vector<std::int64_t>& rows, std::int64_t in) {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (in == 0) {
        reader_.expect(scope_ + names[i] + ".bias", {rows[i]});
      } else {
        const bool upright = names_.order == MatrixOrder::out_in;
        reader_.expect(scope_ + names[i] + ".weight", {upright ? rows[i] : in, upright ? in : rows[i]});
      }
      all += rows[i];
    }
    auto whole = at::empty(in == 0 ? std::vector{all} : std::vector{all, in}, reader_.options());
    std::int64_t first = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto name = scope_ + names[i];
      whole.narrow(0, first, rows[i]).copy_(in == 0 ? bias(name, rows[i], Bias::stored) : matrix(name, rows[i], in));
      first += rows[i];
    }
    return whole;
  }

  std::int64_t query_rows() const { return specification_.num_heads * specification_.head_width; }
  std::int64_t key_rows() const { return specification_.num_key_heads * specification_.head_width; }

  // Rows stored key head by key head, each after its queries -> all queries, all keys, all values.
  at::Tensor in_blocks(const at::Tensor& stored) const {
    if (names_.packing != QueryKeyValuePacking::by_key_head) {
      return stored;
    }
    const auto heads = specification_.num_key_heads;
    const auto group = specification_.num_heads / heads;
    const auto columns = stored.numel() / stored.size(0);
    const auto by_head = stored.view({heads, group + 2, specification_.head_width, columns});
    auto blocks = at::empty_like(stored);
    const auto block = [&](std::int64_t first, std::int64_t rows, std::int64_t per_head) {
      return blocks.narrow(0, first, rows).view({heads, per_head, specification_.head_width, columns});
    };
    block(0, query_rows(), group).copy_(by_head.narrow(1, 0, group));
    block(query_rows(), key_rows(), 1).copy_(by_head.narrow(1, group, 1));
    block(query_rows() + key_rows(), key_rows(), 1).copy_(by_head.narrow(1, group + 1, 1));
    return blocks;
  }

  // Of rows in blocks (queries, keys, values; gate, up) the slice's part of each.
  struct Part {
    std::int64_t first;
    std::int64_t rows;
  };
  at::Tensor own_rows(const at::Tensor& whole, std::initializer_list<Part> parts) const {
    if (slice_.count == 1 || !whole.defined()) {
      return whole;
    }
    std::vector<at::Tensor> own;
    for (const auto& part : parts) {
      own.push_back(whole.narrow(0, part.first, part.rows));
    }
    return at::cat(own);
  }

  at::Tensor own_heads(const at::Tensor& whole) const {
    const auto width = specification_.head_width;
    const auto first_key = first_key_head(specification_, slice_) * width;
    const auto keys = own_.num_key_heads * width;
    return own_rows(whole, {{slice_.index * own_.num_heads * width, own_.num_heads * width},
                            {query_rows() + first_key, keys},
                            {query_rows() + key_rows() + first_key, keys}});
  }

  at::Tensor own_inner(const at::Tensor& whole) const {
    const auto first = slice_.index * own_.inner;
    return specification_.gated ? own_rows(whole, {{first, own_.inner}, {specification_.inner + first, own_.inner}})
                                : own_rows(whole, {{first, own_.inner}});
  }

  // Texts grow a token each at a time.
  static Linear product(at::Tensor weight, at::Tensor bias) {
    return {std::move(weight), std::move(bias), Products::few_rows};
  }

  // A product whose inputs are shared out: the slices' outputs are summed up, so the bias must count once.
  Linear summand(const at::Tensor& weight, at::Tensor whole_bias) const {
    if (slice_.count == 1) {
      return product(weight, std::move(whole_bias));
    }
    const auto width = weight.size(1) / slice_.count;
    return product(weight.narrow(1, slice_.index * width, width).clone(at::MemoryFormat::Contiguous),
                   slice_.index == 0 ? std::move(whole_bias) : at::Tensor());
  }

  Linear summand(const std::string& name, std::int64_t out, std::int64_t in, Bias stored) {
    return summand(matrix(scope_ + name, out, in), bias(scope_ + name, out, stored));
  }

  void read_query_key_value(CausalLayer& layer, Place place) {
    const std::vector<std::int64_t> rows = {query_rows(), key_rows(), key_rows()};
    const auto all = rows[0] + rows[1] + rows[2];
    const auto& names = names_.query_key_value;
    const bool apart = names_.packing == QueryKeyValuePacking::apart;
    auto weights = apart ? stacked(names, rows, specification_.hidden)
                         : in_blocks(matrix(scope_ + names.front(), all, specification_.hidden));
    at::Tensor biases;
    if (names_.query_key_value_bias) {
      biases = apart ? stacked(names, rows, 0) : in_blocks(bias(scope_ + names.front(), all, Bias::stored));
    }
    weights = own_heads(weights);
    biases = own_heads(biases);
    const auto queries = own_.num_heads * own_.head_width;
    const auto keys = own_.num_key_heads * own_.head_width;
    if (place == Place::before_the_last) {
      layer.query_key_value = product(std::move(weights), std::move(biases));
      return;
    }
    const auto part = [](const at::Tensor& tensor, std::int64_t first, std::int64_t count) {
      return tensor.defined() ? tensor.narrow(0, first, count).clone() : at::Tensor();
    };
    layer.query = product(part(weights, 0, queries), part(biases, 0, queries));
    layer.key_value = product(part(weights, queries, 2 * keys), part(biases, queries, 2 * keys));
  }

  FeedForward feed_forward() {
    const auto stored = bias_if(names_.feed_forward_bias);
    const auto inner = specification_.inner;
    FeedForward part;
    if (names_.inner.size() == 2) {
      auto weights = stacked(names_.inner, {inner, inner}, specification_.hidden);
      part.inner = product(own_inner(weights),
                           stored == Bias::stored ? own_inner(stacked(names_.inner, {inner, inner}, 0)) : at::Tensor());
    } else {
      const auto name = scope_ + names_.inner.front();
      const auto rows = specification_.gated ? 2 * inner : inner;
      auto weights = own_inner(matrix(name, rows, specification_.hidden));
      part.inner = product(std::move(weights), own_inner(bias(name, rows, stored)));
    }
    part.outer = summand(names_.outer, specification_.hidden, inner, stored);
    return part;
  }

  // Mixtral's two layouts: a matrix per expert, or all experts of a layer in one tensor.
  void read_experts(CausalLayer& layer) {
    const auto count = specification_.experts.count;
    const auto inner = specification_.inner;
    const auto hidden = specification_.hidden;
    const std::string block = reader_.has(scope_ + "block_sparse_moe.gate.weight") ? "block_sparse_moe." : "mlp.";
    layer.router = reader_.take(scope_ + block + "gate.weight", {count, hidden});
    const auto experts = block + "experts.";
    at::Tensor all;  // of one kind at a time
    if (reader_.has(scope_ + experts + "gate_up_proj")) {
      all = reader_.take(scope_ + experts + "gate_up_proj", {count, 2 * inner, hidden});
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const auto expert = experts + std::to_string(i);
      layer.experts.push_back(
          {product(own_inner(all.defined() ? all[i].clone()
                                           : stacked({expert + ".w1", expert + ".w3"}, {inner, inner}, hidden)),
                   {}),
           {}});
    }
    all = at::Tensor();
    if (reader_.has(scope_ + experts + "down_proj")) {
      all = reader_.take(scope_ + experts + "down_proj", {count, hidden, inner});
    }
    for (std::int64_t i = 0; i < count; ++i) {
      layer.experts[static_cast<std::size_t>(i)].outer =
          all.defined() ? summand(all[i].clone(), {})
                        : summand(experts + std::to_string(i) + ".w2", hidden, inner, Bias::none);
    }
  }

  CausalLayer layer(Place place) {
    const auto hidden = specification_.hidden;
    const bool per_head = specification_.query_key_norm == QueryKeyNorm::per_head;
    CausalLayer layer;
    layer.attention_norm = layer_norm(names_.attention_norm, hidden);
    layer.attention_output_norm = layer_norm(names_.attention_output_norm, hidden);
    layer.feed_forward_norm = layer_norm(names_.feed_forward_norm, hidden);
    layer.feed_forward_output_norm = layer_norm(names_.feed_forward_output_norm, hidden);
    layer.query_norm = layer_norm(names_.query_norm, per_head ? specification_.head_width : query_rows());
    layer.key_norm = layer_norm(names_.key_norm, per_head ? specification_.head_width : key_rows());
    read_query_key_value(layer, place);
    layer.attention_output =
        summand(names_.attention_output, hidden, query_rows(), bias_if(names_.attention_output_bias));
    if (specification_.experts.count > 0) {
      read_experts(layer);
    } else {
      layer.feed_forward = feed_forward();
    }
    return layer;
  }

  // transformers' rule: a head of its own counts where it is stored, also where the settings say that it is tied.
  void read_head(CausalWeights& weights) {
    if (head_.empty() && !specification_.tied_head) {
      return;
    }
    const auto name = head_ + ".weight";
    if (head_.empty() || name == words_name()) {
      weights.head = weights.words;
    } else {
      weights.head = reader_.take(name, {specification_.vocabulary, specification_.hidden});
      const bool is_doubtful = specification_.tied_head && !weights.head.is_meta();
      if (is_doubtful && at::equal(weights.head, weights.words)) {
        weights.head = weights.words;
      } else if (is_doubtful) {
        base::log_once(base::LogLevel::warning,
                       reader_.stored().at(name).file + ": " +
                           describe("tensor " + json_quote(name) + " differs from the word embeddings",
                                    "config.json says tie_word_embeddings: the stored tensor counts"));
      }
    }
    if (names_.head_bias) {
      const auto stored = (head_.empty() ? names_.heads.front() : head_) + ".bias";
      weights.head_bias = reader_.take_as(stored, {specification_.vocabulary}, at::kFloat);
    }
  }

  bool is_harmless(const std::string& name) const {
    const auto begins = [&](std::string_view beginning) { return name.starts_with(beginning); };
    const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
    return begins("score.") || begins("classifier.") ||
           std::any_of(names_.harmless_beginnings.begin(), names_.harmless_beginnings.end(), begins) ||
           std::any_of(names_.harmless_endings.begin(), names_.harmless_endings.end(), ends);
  }

  TensorReader& reader_;
  const CausalSpecification& specification_;
  const CausalNames& names_;
  TensorSlice slice_;
  CausalSpecification own_;  // of the slice
  std::string prefix_;
  std::string head_;   // its name; empty: none is stored
  std::string scope_;  // of the layer that is being read
};

}  // namespace

CausalWeights load_causal_weights(const base::FileSet& files, const CausalSpecification& specification,
                                  const at::TensorOptions& options, TensorSlice slice) {
  TensorReader reader(read_stored_tensors(files), files.directory(), options);
  return CausalReader(reader, specification, slice).read();
}

}  // namespace stereosweep::model
