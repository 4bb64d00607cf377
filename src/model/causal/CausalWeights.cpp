#include "model/causal/CausalWeights.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
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
    if (!names_.embedding_norm.empty()) {
      weights.embedding_norm = norm(prefix_ + names_.embedding_norm, hidden);
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
    const bool has_bias = specification_.norm == NormKind::layer && names_.norm_bias;
    return {reader_.take(name + ".weight", {width}), has_bias ? reader_.take(name + ".bias", {width}) : at::Tensor()};
  }

  std::optional<Norm> layer_norm(const std::string& name, std::int64_t width) {
    return name.empty() ? std::nullopt : std::optional(norm(scope_ + name, width));
  }

  using Ranges = std::vector<Range>;

  // Of a product's matrix [out, in] the slice's part: `rows` of its outputs, `columns` of its inputs.
  struct Shape {
    std::int64_t out;
    std::int64_t in;
  };
  at::Tensor matrix(const std::string& name, Shape whole, const Ranges& rows, const Ranges& columns = {}) {
    return names_.order == MatrixOrder::out_in
               ? reader_.take_cut(name + ".weight", {whole.out, whole.in}, {rows, columns})
               : reader_.take_cut(name + ".weight", {whole.in, whole.out}, {columns, rows}).t().contiguous();
  }

  at::Tensor bias(const std::string& name, std::int64_t out, const Ranges& rows, Bias stored) {
    return stored == Bias::stored ? reader_.take_cut(name + ".bias", {out}, {rows, {}}) : at::Tensor();
  }

  // One of several matrices of the same input, and the slice's rows of it.
  struct Part {
    std::string name;
    std::int64_t out;
    Ranges rows;
  };

  // They stand below each other, so that one product does the work of all: [sum of rows, in]. Shapes are checked before
  // memory is taken.
  Linear stacked(const std::vector<Part>& parts, std::int64_t in, Bias stored) {
    const bool upright = names_.order == MatrixOrder::out_in;
    std::int64_t all = 0;
    for (const auto& part : parts) {
      reader_.expect(scope_ + part.name + ".weight", {upright ? part.out : in, upright ? in : part.out});
      all += total(part.rows);
    }
    auto whole = at::empty({all, in}, reader_.options());
    std::int64_t first = 0;
    for (const auto& part : parts) {
      const auto rows = total(part.rows);
      const auto own = whole.narrow(0, first, rows);
      if (upright) {
        reader_.take_cut_into(own, scope_ + part.name + ".weight", {part.out, in}, {part.rows, {}});
      } else {
        own.copy_(matrix(scope_ + part.name, {part.out, in}, part.rows));
      }
      first += rows;
    }
    std::vector<at::Tensor> biases;
    for (const auto& part : parts) {
      biases.push_back(bias(scope_ + part.name, part.out, part.rows, stored));
    }
    return product(std::move(whole), stored == Bias::stored ? at::cat(biases) : at::Tensor());
  }

  // Texts grow a token each at a time.
  static Linear product(at::Tensor weight, at::Tensor bias) {
    return {std::move(weight), std::move(bias), Products::few_rows};
  }

  // A product whose inputs are shared out: the slices' outputs are summed up, so the bias must count once.
  Linear summand(const std::string& name, std::int64_t out, std::int64_t in, Bias stored) {
    auto weight = matrix(scope_ + name, {out, in}, {{0, out}}, own_part(in));
    if (stored == Bias::stored && slice_.index > 0) {
      reader_.expect(scope_ + name + ".bias", {out});
      reader_.ignore(scope_ + name + ".bias");
      return product(std::move(weight), {});
    }
    return product(std::move(weight), bias(scope_ + name, out, {}, stored));
  }

  // The slice's of `count` inputs; empty: all.
  Ranges own_part(std::int64_t count) const {
    const auto width = count / slice_.count;
    return slice_.count == 1 ? Ranges{} : Ranges{{slice_.index * width, width}};
  }

  // Queries, keys and values: the slice's heads are a range of each.
  std::int64_t query_rows() const { return specification_.num_heads * specification_.head_width; }
  std::int64_t key_rows() const { return specification_.num_key_heads * specification_.head_width; }
  Range own_queries() const {
    const auto rows = own_.num_heads * own_.head_width;
    return {slice_.index * rows, rows};
  }
  Range own_keys() const {
    return {first_key_head(specification_, slice_) * own_.head_width, own_.num_key_heads * own_.head_width};
  }

  // Which of them a product computes.
  enum class Kinds { all, queries, keys_and_values };

  // Where these rows are stored in one matrix of all, in the order queries, keys, values.
  Ranges packed_rows(Kinds kinds) const {
    const auto width = specification_.head_width;
    const bool by_head = names_.packing == QueryKeyValuePacking::by_key_head;
    const auto group = specification_.num_heads / specification_.num_key_heads;
    Ranges rows;
    // Row `row` of the block of queries, or of the first or second block behind it.
    const auto add = [&](Range block, std::int64_t per_key_head, std::int64_t first, std::int64_t inside) {
      if (!by_head) {
        rows.push_back({first + block.first, block.count});
        return;
      }
      for (auto row = block.first; row < block.first + block.count; row += width) {
        const auto head = row / width;
        const auto place = head / per_key_head * (group + 2) + inside + head % per_key_head;
        if (!rows.empty() && rows.back().first + rows.back().count == place * width) {
          rows.back().count += width;
        } else {
          rows.push_back({place * width, width});
        }
      }
    };
    if (kinds != Kinds::keys_and_values) {
      add(own_queries(), group, 0, 0);
    }
    if (kinds != Kinds::queries) {
      add(own_keys(), 1, query_rows(), group);
      add(own_keys(), 1, query_rows() + key_rows(), group + 1);
    }
    return rows;
  }

  Linear query_key_value(Kinds kinds) {
    const auto& names = names_.query_key_value;
    const bool apart = names_.packing == QueryKeyValuePacking::apart;
    std::vector<Part> parts;
    if (!apart) {
      parts.push_back({names.front(), query_rows() + 2 * key_rows(), packed_rows(kinds)});
    }
    if (apart && kinds != Kinds::keys_and_values) {
      parts.push_back({names[0], query_rows(), {own_queries()}});
    }
    if (apart && kinds != Kinds::queries) {
      parts.push_back({names[1], key_rows(), {own_keys()}});
      parts.push_back({names[2], key_rows(), {own_keys()}});
    }
    return stacked(parts, specification_.hidden, bias_if(names_.query_key_value_bias));
  }

  void read_query_key_value(CausalLayer& layer, Place place) {
    if (place == Place::before_the_last) {
      layer.query_key_value = query_key_value(Kinds::all);
    } else {
      layer.query = query_key_value(Kinds::queries);
      layer.key_value = query_key_value(Kinds::keys_and_values);
    }
  }

  Range own_inner() const { return {slice_.index * own_.inner, own_.inner}; }

  // Gate before up; one below the other from row `first` on.
  Ranges own_inner_rows(std::int64_t first) const {
    const auto own = own_inner();
    Ranges rows{{first + own.first, own.count}};
    if (specification_.gated) {
      rows.push_back({first + specification_.inner + own.first, own.count});
    }
    return rows;
  }

  FeedForward feed_forward() {
    const auto stored = bias_if(names_.feed_forward_bias);
    const auto inner = specification_.inner;
    std::vector<Part> parts = {{names_.inner.front(), specification_.gated ? 2 * inner : inner, own_inner_rows(0)}};
    if (names_.inner.size() == 2) {
      parts = {{names_.inner[0], inner, {own_inner()}}, {names_.inner[1], inner, {own_inner()}}};
    }
    auto whole = stacked(parts, specification_.hidden, stored);
    return {std::move(whole), summand(names_.outer, specification_.hidden, inner, stored)};
  }

  // Of [experts, hidden, 2 inner], a number of gate, one of up and so on, an expert's rows of the slice: [2 inner,
  // hidden], all of gate, then all of up. In blocks of four bits it is stored upright.
  at::Tensor interleaved(const std::string& name, std::int64_t expert) {
    const auto count = specification_.experts.count;
    const auto hidden = specification_.hidden;
    const auto all = 2 * specification_.inner;
    const Range own{2 * own_inner().first, 2 * own_inner().count};
    const bool in_blocks = reader_.has(name + "_blocks");
    const auto rows =
        in_blocks
            ? reader_.take_cut(name + "_blocks", {count, all, hidden}, {{{expert * all + own.first, own.count}}, {}})
            : reader_.take_cut(name, {count, hidden, all}, {{{expert * hidden, hidden}}, {own}}).t();
    return rows.unflatten(0, {own_inner().count, 2}).transpose(0, 1).flatten(0, 1).contiguous();
  }

  FeedForward expert_with_biases(const std::string& experts, std::int64_t expert) {
    const auto count = specification_.experts.count;
    const auto hidden = specification_.hidden;
    const auto inner = specification_.inner;
    const auto all_inner = experts + "gate_up_proj";
    const auto all_outer = experts + "down_proj";
    const auto biases = reader_.take_cut(all_inner + "_bias", {count, 2 * inner},
                                         {{{expert, 1}}, {{2 * own_inner().first, 2 * own_inner().count}}});
    auto outer = reader_.has(all_outer + "_blocks")
                     ? reader_.take_cut(all_outer + "_blocks", {count, hidden, inner},
                                        {{{expert * hidden, hidden}}, own_part(inner)})
                     : reader_
                           .take_cut(all_outer, {count, inner, hidden},
                                     {{{expert * inner + own_inner().first, own_inner().count}}, {}})
                           .t()
                           .contiguous();
    const auto bias = reader_.take_cut(all_outer + "_bias", {count, hidden}, {{{expert, 1}}, {}}).flatten();
    return {product(interleaved(all_inner, expert), biases.view({-1, 2}).t().flatten()),
            product(std::move(outer), slice_.index > 0 ? at::Tensor() : bias)};
  }

  // Three layouts: a matrix per expert, or all experts of a layer in one tensor, as ExpertPacking says.
  void read_experts(CausalLayer& layer) {
    const auto count = specification_.experts.count;
    const auto inner = specification_.inner;
    const auto hidden = specification_.hidden;
    const std::string block = reader_.has(scope_ + "block_sparse_moe.gate.weight") ? "block_sparse_moe." : "mlp.";
    layer.router = reader_.take(scope_ + block + names_.router + ".weight", {count, hidden});
    const auto experts = block + "experts.";
    if (names_.expert_packing == ExpertPacking::interleaved) {
      layer.router_bias = reader_.take(scope_ + block + names_.router + ".bias", {count});
      for (std::int64_t i = 0; i < count; ++i) {
        layer.experts.push_back(expert_with_biases(scope_ + experts, i));
      }
      return;
    }
    const auto all_inner = scope_ + experts + "gate_up_proj";
    const auto all_outer = scope_ + experts + "down_proj";
    for (std::int64_t i = 0; i < count; ++i) {
      const auto expert = experts + std::to_string(i);
      FeedForward own;
      own.inner =
          reader_.has(all_inner)
              ? product(reader_.take_cut(all_inner, {count, 2 * inner, hidden}, {own_inner_rows(2 * inner * i), {}}),
                        {})
              : stacked({{expert + "." + names_.expert_inner[0], inner, {own_inner()}},
                         {expert + "." + names_.expert_inner[1], inner, {own_inner()}}},
                        hidden, Bias::none);
      own.outer =
          reader_.has(all_outer)
              ? product(reader_.take_cut(all_outer, {count, hidden, inner}, {{{i * hidden, hidden}}, own_part(inner)}),
                        {})
              : summand(expert + "." + names_.expert_outer, hidden, inner, Bias::none);
      layer.experts.push_back(std::move(own));
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
    if (!names_.sinks.empty()) {
      const Range own{slice_.index * own_.num_heads, own_.num_heads};
      layer.sinks = reader_.take_cut(scope_ + names_.sinks, {specification_.num_heads}, {{own}, {}}).to(at::kFloat);
    }
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
