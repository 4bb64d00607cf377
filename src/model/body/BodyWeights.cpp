#include "model/body/BodyWeights.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

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

enum class Bias { none, stored };
Bias bias_if(bool stored) { return stored ? Bias::stored : Bias::none; }

using Ranges = std::vector<Range>;

// The body; what stands before and behind it differs.
class BodyReader {
 public:
  // `own`: of the slice.
  BodyReader(TensorReader& reader, const BodySettings& settings, BodySettings own, TensorSlice slice, Products products)
      : reader_(reader),
        settings_(settings),
        names_(settings.names),
        slice_(slice),
        own_(std::move(own)),
        keys_{own_keys()},
        products_(products) {
    for (const auto& prefix : names_.prefixes) {
      if (prefix_.empty() && reader.has_any(prefix)) {
        prefix_ = prefix;
      }
    }
  }

 protected:
  // How the last layer holds its queries; the others hold them with keys and values.
  enum class Queries { with_keys, apart };

  void read_body(std::int64_t words_width, Queries of_last, BodyWeights& weights) {
    weights.words = reader_.take(words_name(), {settings_.vocabulary, words_width});
    scope_ = prefix_;
    weights.embedding_norm = norm(names_.embedding_norm, words_width);
    const auto count = settings_.layers.size();
    std::vector<std::string> scopes;
    for (std::size_t index = 0; index < count; ++index) {
      scope_ = scope_of(index);
      if (const auto same = std::ranges::find(scopes, scope_); same != scopes.end()) {
        weights.layers.push_back(weights.layers[static_cast<std::size_t>(same - scopes.begin())]);
      } else {
        weights.layers.push_back(layer(index, index + 1 == count ? of_last : Queries::with_keys));
      }
      scopes.push_back(scope_);
    }
    scope_ = prefix_;
    weights.final_norm = norm(names_.final_norm, settings_.hidden);
  }

  std::string scope_of(std::size_t layer) const {
    return prefix_ +
           (names_.shared_layers.empty() ? names_.layers + std::to_string(layer) + "." : names_.shared_layers[layer]);
  }

  // Tied matrices may be stored under either name.
  std::string words_name() const {
    const auto own = prefix_ + names_.words + ".weight";
    const auto head = head_ + ".weight";
    return !reader_.has(own) && reader_.has(head) && settings_.tied_head ? head : own;
  }

  // None where the family has none. Old checkpoints call scale and shift of a layer norm gamma and beta.
  std::optional<Norm> norm(const std::string& own_name, std::int64_t width) {
    if (own_name.empty()) {
      return std::nullopt;
    }
    const auto name = scope_ + own_name;
    const bool is_old = !reader_.has(name + ".weight") && reader_.has(name + ".gamma");
    const bool has_bias = settings_.norm == NormKind::layer && names_.norm_bias;
    return Norm{reader_.take(name + (is_old ? ".gamma" : ".weight"), {width}),
                has_bias ? reader_.take(name + (is_old ? ".beta" : ".bias"), {width}) : at::Tensor()};
  }

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

  Linear product(at::Tensor weight, at::Tensor bias) const { return {std::move(weight), std::move(bias), products_}; }

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
  std::int64_t query_rows() const { return settings_.num_heads * settings_.head_width; }
  std::int64_t key_rows() const { return settings_.num_key_heads * settings_.head_width; }
  Range own_queries() const {
    const auto rows = own_.num_heads * own_.head_width;
    return {slice_.index * rows, rows};
  }
  Range own_keys() const {
    return {first_key_head(settings_, slice_) * own_.head_width, own_.num_key_heads * own_.head_width};
  }

  // Which of them a product computes.
  enum class Kinds { all, queries, keys_and_values };

  // Where these rows are stored in one matrix of all, in the order queries, keys, values.
  Ranges packed_rows(Kinds kinds) const {
    const auto width = settings_.head_width;
    const bool by_head = names_.packing == QueryKeyValuePacking::by_key_head;
    const auto group = settings_.num_heads / settings_.num_key_heads;
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
      parts.push_back({names[1], key_rows(), keys_});
      parts.push_back({names[2], key_rows(), keys_});
    }
    return stacked(parts, settings_.hidden, bias_if(names_.query_key_value_bias));
  }

  Range own_inner() const { return {slice_.index * own_.inner, own_.inner}; }

  // Gate before up, one below the other.
  Ranges own_inner_rows() const {
    const auto own = own_inner();
    Ranges rows{own};
    if (settings_.gated) {
      rows.push_back({settings_.inner + own.first, own.count});
    }
    return rows;
  }

  FeedForward feed_forward() {
    const auto stored = bias_if(names_.feed_forward_bias);
    const auto inner = settings_.inner;
    std::vector<Part> parts = {{names_.inner.front(), settings_.gated ? 2 * inner : inner, own_inner_rows()}};
    if (names_.inner.size() == 2) {
      parts = {{names_.inner[0], inner, {own_inner()}}, {names_.inner[1], inner, {own_inner()}}};
    }
    auto whole = stacked(parts, settings_.hidden, stored);
    return {std::move(whole), summand(names_.outer, settings_.hidden, inner, stored)};
  }

  // Of all experts' matrices in one tensor an expert's, [out, in]. In blocks of four bits they stand upright in any
  // packing. `columns`: not empty.
  at::Tensor matrix_of(std::int64_t expert, const std::string& name, Shape whole, Ranges rows, Ranges columns) {
    const auto count = settings_.experts.count;
    const bool in_blocks = reader_.has(name + "_blocks");
    const bool upright = in_blocks || names_.expert_packing == ExpertPacking::upright;
    for (auto& range : upright ? rows : columns) {
      range.first += expert * (upright ? whole.out : whole.in);
    }
    return upright
               ? reader_.take_cut(in_blocks ? name + "_blocks" : name, {count, whole.out, whole.in}, {rows, columns})
               : reader_.take_cut(name, {count, whole.in, whole.out}, {columns, rows}).t();
  }

  // A number of gate, one of up, and so on, and a bias of each.
  FeedForward interleaved(std::int64_t expert, const std::string& all_inner, const std::string& all_outer) {
    const auto count = settings_.experts.count;
    const auto hidden = settings_.hidden;
    const auto inner = settings_.inner;
    const Range own{2 * own_inner().first, 2 * own_inner().count};
    const auto weight = matrix_of(expert, all_inner, {2 * inner, hidden}, {own}, {{0, hidden}});
    const auto biases = reader_.take_cut(all_inner + "_bias", {count, 2 * inner}, {{{expert, 1}}, {own}});
    const auto bias = reader_.take_cut(all_outer + "_bias", {count, hidden}, {{{expert, 1}}, {}}).flatten();
    return {product(weight.unflatten(0, {own_inner().count, 2}).transpose(0, 1).flatten(0, 1).contiguous(),
                    biases.view({-1, 2}).t().flatten()),
            product(matrix_of(expert, all_outer, {hidden, inner}, {{0, hidden}}, {own_inner()}).contiguous(),
                    slice_.index > 0 ? at::Tensor() : bias)};
  }

  // Three layouts: a matrix per expert, or all experts of a layer in one tensor, as ExpertPacking says.
  void read_experts(Layer& layer) {
    const auto count = settings_.experts.count;
    const auto inner = settings_.inner;
    const auto hidden = settings_.hidden;
    const bool is_interleaved = names_.expert_packing == ExpertPacking::interleaved;
    const std::string block = reader_.has(scope_ + "block_sparse_moe.gate.weight") ? "block_sparse_moe." : "mlp.";
    const auto router = scope_ + block + names_.router;
    layer.router = reader_.take(router + ".weight", {count, hidden});
    layer.router_bias = bias(router, count, {}, bias_if(is_interleaved));
    const auto experts = block + "experts.";
    const auto all_inner = scope_ + experts + "gate_up_proj";
    const auto all_outer = scope_ + experts + "down_proj";
    for (std::int64_t i = 0; i < count; ++i) {
      if (is_interleaved) {
        layer.experts.push_back(interleaved(i, all_inner, all_outer));
        continue;
      }
      const auto expert = experts + std::to_string(i) + ".";
      FeedForward own;
      own.inner = reader_.has(all_inner)
                      ? product(matrix_of(i, all_inner, {2 * inner, hidden}, own_inner_rows(), {{0, hidden}}), {})
                      : stacked({{expert + names_.expert_inner[0], inner, {own_inner()}},
                                 {expert + names_.expert_inner[1], inner, {own_inner()}}},
                                hidden, Bias::none);
      own.outer = reader_.has(all_outer)
                      ? product(matrix_of(i, all_outer, {hidden, inner}, {{0, hidden}}, {own_inner()}), {})
                      : summand(expert + names_.expert_outer, hidden, inner, Bias::none);
      layer.experts.push_back(std::move(own));
    }
  }

  // Number `index`, of what stands in `scope_`.
  Layer layer(std::size_t index, Queries queries) {
    const auto hidden = settings_.hidden;
    const bool per_head = settings_.query_key_norm == QueryKeyNorm::per_head;
    Layer layer;
    if (index > 0 || names_.first_attention_norm) {
      layer.attention_norm = norm(names_.attention_norm, hidden);
    }
    layer.attention_output_norm = norm(names_.attention_output_norm, hidden);
    layer.feed_forward_norm = norm(names_.feed_forward_norm, hidden);
    layer.feed_forward_output_norm = norm(names_.feed_forward_output_norm, hidden);
    layer.query_norm = norm(names_.query_norm, per_head ? settings_.head_width : query_rows());
    layer.key_norm = norm(names_.key_norm, per_head ? settings_.head_width : key_rows());
    if (!names_.sinks.empty()) {
      const Range own{slice_.index * own_.num_heads, own_.num_heads};
      layer.sinks = reader_.take_cut(scope_ + names_.sinks, {settings_.num_heads}, {{own}, {}}).to(at::kFloat);
    }
    if (queries == Queries::with_keys) {
      layer.query_key_value = query_key_value(Kinds::all);
    } else {
      layer.query = query_key_value(Kinds::queries);
      layer.key_value = query_key_value(Kinds::keys_and_values);
    }
    layer.attention_output =
        summand(names_.attention_output, hidden, query_rows(), bias_if(names_.attention_output_bias));
    if (settings_.experts.count > 0) {
      read_experts(layer);
    } else {
      layer.feed_forward = feed_forward();
    }
    return layer;
  }

  // Parts that do not change what is computed here. Anything else that is left means another architecture.
  bool is_harmless(const std::string& name) const {
    const auto begins = [&](std::string_view beginning) { return name.starts_with(beginning); };
    const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
    return begins("classifier.") || std::ranges::any_of(names_.harmless_beginnings, begins) ||
           std::ranges::any_of(names_.harmless_endings, ends);
  }

  TensorReader& reader_;
  const BodySettings& settings_;
  const TensorNames& names_;
  TensorSlice slice_;
  BodySettings own_;
  Ranges keys_;  // rows of a matrix of keys or of values that are taken
  Products products_;
  std::string prefix_;
  std::string head_;   // its name; empty: none is stored
  std::string scope_;  // what stands before the names of the layer, or other part, that is being read
};

class CausalReader : BodyReader {
 public:
  CausalReader(TensorReader& reader, const CausalSpecification& specification, TensorSlice slice)
      : BodyReader(reader, specification, slice_of(specification, slice), slice,
                   Products::few_rows),  // texts grow a token each at a time
        specification_(specification) {
    for (const auto& head : names_.heads) {
      if (head_.empty() && reader.has(head + ".weight")) {
        head_ = head;
      }
    }
  }

  BodyWeights read() {
    BodyWeights weights;
    read_body(specification_.hidden, Queries::apart, weights);
    if (!names_.positions.empty()) {
      weights.positions =
          reader_.take(prefix_ + names_.positions + ".weight",
                       {specification_.max_tokens + specification_.first_position, specification_.hidden});
    }
    read_head(weights);
    reader_.check_left([this](const std::string& name) { return name.starts_with("score.") || is_harmless(name); });
    return weights;
  }

 private:
  // transformers' rule: a head of its own counts where it is stored, also where the settings say that it is tied.
  void read_head(BodyWeights& weights) {
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

  const CausalSpecification& specification_;
};

class MaskedReader : BodyReader {
 public:
  MaskedReader(TensorReader& reader, const MaskedSpecification& specification)
      : BodyReader(reader, specification, specification, {}, Products::fastest), specification_(specification) {
    const auto is_stored = [&](const MaskedHeadNames& head) {
      return reader.has_any(head.beginning) || (head.dense.empty() && specification.tied_head);
    };
    const auto found = std::ranges::find_if(specification.heads, is_stored);
    head_names_ = found == specification.heads.end() ? nullptr : &*found;
    head_ = head_names_ == nullptr ? "" : head_names_->decoder;
    repeat_keys();
  }

  MaskedWeights read() {
    const auto hidden = specification_.hidden;
    const auto width = specification_.embedding_width();
    const bool is_plain = specification_.relative.farthest == 0 && specification_.rotaries.empty();
    MaskedWeights weights;
    read_body(width, is_plain ? Queries::apart : Queries::with_keys, weights);
    weights.positions = positions();
    if (!names_.embedding_projection.empty()) {
      weights.embedding_projection = summand(names_.embedding_projection, hidden, width, Bias::stored);
    }
    if (specification_.relative.farthest > 0) {
      weights.relative = relative_rows();
    }
    if (head_names_ != nullptr) {
      read_head(weights);
    }
    reader_.check_left([this](const std::string& name) { return is_harmless_here(name); });
    return weights;
  }

 private:
  // So that each head of queries has its own.
  void repeat_keys() {
    const auto width = specification_.head_width;
    const auto group = specification_.num_heads / specification_.num_key_heads;
    keys_.clear();
    for (std::int64_t head = 0; head < specification_.num_heads; ++head) {
      keys_.push_back({head / group * width, width});
    }
  }

  at::Tensor positions() {
    const auto width = specification_.embedding_width();
    at::Tensor table;
    if (!names_.positions.empty()) {
      table = reader_.take(prefix_ + names_.positions + ".weight", {specification_.positions, width});
    }
    if (specification_.token_types == 0) {
      return table;
    }
    const auto types =
        reader_.take(prefix_ + "embeddings.token_type_embeddings.weight", {specification_.token_types, width});
    return table.defined() ? table.add(types[0]) : types.slice(0, 0, 1);
  }

  at::Tensor relative_table() {
    const auto hidden = specification_.hidden;
    auto table = reader_.take(prefix_ + "encoder.rel_embeddings.weight", {2 * specification_.relative.span(), hidden});
    if (!specification_.relative.normed) {
      return table;
    }
    const auto own = *norm("encoder.LayerNorm", hidden);
    return table.is_meta()  // there torch has no layer norm
               ? table
               : at::layer_norm(table, {hidden}, own.weight, own.bias, specification_.norm_epsilon, false);
  }

  std::vector<RelativeRows> relative_rows() {
    const auto& relative = specification_.relative;
    const auto hidden = specification_.hidden;
    const auto table = relative_table();
    std::vector<RelativeRows> rows(specification_.layers.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      scope_ = scope_of(i);
      const auto project = [&](const std::string& own, const std::string& shared) {
        const auto name = scope_ + (relative.own_projections ? own : shared);
        return at::linear(table, matrix(name, {hidden, hidden}, {}), bias(name, hidden, {}, Bias::stored));
      };
      if (relative.content_to_position) {
        rows[i].keys = project("attention.self.pos_key_proj", names_.query_key_value[1]);
      }
      if (relative.position_to_content) {
        rows[i].queries = project("attention.self.pos_query_proj", names_.query_key_value[0]);
      }
    }
    return rows;
  }

  // transformers' rule: the decoder's own matrix and bias count where they are stored; else the tied ones do.
  void read_head(MaskedWeights& weights) {
    const auto& names = *head_names_;
    const auto width = specification_.embedding_width();
    if (!names.dense.empty()) {
      scope_.clear();
      weights.head_dense = summand(names.dense, width, specification_.hidden, bias_if(specification_.head_dense_bias));
      weights.head_norm = norm(names.norm, width);
    }
    const bool is_tied = specification_.tied_head && !reader_.has(head_ + ".weight");
    weights.head = is_tied ? weights.words : reader_.take(head_ + ".weight", {specification_.vocabulary, width});
    const auto own_bias = head_ + ".bias";
    weights.head_bias = names_.head_bias ? reader_.take_as(reader_.has(own_bias) ? own_bias : names.bias,
                                                           {specification_.vocabulary}, at::kFloat)
                                         : at::zeros({specification_.vocabulary}, reader_.options().dtype(at::kFloat));
    reader_.ignore(names.bias);
  }

  bool is_harmless_here(const std::string& name) const {
    const auto within = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    return name.starts_with(prefix_ + "pooler.") || name.starts_with("pooler.") ||
           name.starts_with("cls.seq_relationship.") || within("position_ids") || within("token_type_ids") ||
           is_harmless(name);
  }

  const MaskedSpecification& specification_;
  const MaskedHeadNames* head_names_ = nullptr;  // null: no head is stored
};

}  // namespace

ModelShape shape_of(const BodySettings& settings, const BodyWeights& weights) {
  auto shape = shape_of(settings);
  shape.has_head = weights.head.defined();
  shape.kernels = kernels_on(weights.words.device());
  shape.dtype = dtype_of(weights.words.scalar_type());
  return shape;
}

OutputProjection make_head(BodyWeights& weights, Products products) {
  const auto matrix = std::exchange(weights.head, at::Tensor());
  if (!matrix.defined()) {
    return {};
  }
  const bool needs_bias = kernels_on(matrix.device()) == Kernels::own_kernels;
  const auto bias = weights.head_bias.defined() || !needs_bias
                        ? weights.head_bias
                        : at::zeros({matrix.size(0)}, matrix.options().dtype(at::kFloat));
  OutputProjection head(matrix, bias, products);
  if (matrix.is_alias_of(weights.words)) {
    head.share(weights.words);
  }
  return head;
}

BodyWeights load_causal_weights(const base::FileSet& files, const CausalSpecification& specification,
                                const at::TensorOptions& options, TensorSlice slice) {
  TensorReader reader(read_stored_tensors(files), files.directory(), options);
  return CausalReader(reader, specification, slice).read();
}

MaskedWeights load_masked_weights(const base::FileSet& files, const MaskedSpecification& specification,
                                  const at::TensorOptions& options) {
  TensorReader reader(read_stored_tensors(files), files.directory(), options);
  return MaskedReader(reader, specification).read();
}

}  // namespace stereosweep::model
