// Random small causal models, and what they compute written plainly: sequence by sequence, in float64, without a tree.
#pragma once

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "model/body/BodyWeights.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/causal/TokenTree.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/Linear.hpp"

namespace stereosweep::model::testing {

struct PlainMatrix {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]
};

struct PlainFeedForward {
  PlainMatrix gate;  // without a gate: undefined
  PlainMatrix up;
  PlainMatrix down;
};

struct PlainLayer {
  std::optional<Norm> attention_norm, attention_output_norm, feed_forward_norm, feed_forward_output_norm, query_norm,
      key_norm;
  PlainMatrix query, key, value, output;
  at::Tensor sinks;  // [num_heads] or undefined
  at::Tensor router;
  at::Tensor router_bias;                 // or undefined
  std::vector<PlainFeedForward> experts;  // one without experts
};

/// Which of the optional norms a layer has.
struct PlainNorms {
  bool attention = true, attention_output = false, feed_forward = true, feed_forward_output = false;
  bool embedding = false;  // behind the embeddings
  bool sinks = false;      // no norm, but optional, too; with experts, the router's bias as well (GPT-OSS)
};

/// Numbers that float32 and bfloat16 hold exactly, as float32 tensors.
struct PlainModel {
  CausalSpecification specification;
  at::Tensor words, positions, head, head_bias;
  std::vector<PlainLayer> layers;
  std::optional<Norm> embedding_norm, final_norm;
};

inline at::Tensor random_numbers(std::vector<std::int64_t> shape, double spread, double centre = 0) {
  return at::randn(shape, at::kFloat).mul_(spread).add_(centre).to(at::kBFloat16).to(at::kFloat);
}

inline PlainModel random_model(const CausalSpecification& specification, const PlainNorms& norms, double spread = 0.3) {
  const auto hidden = specification.hidden;
  const auto matrix = [&](std::int64_t out, std::int64_t in) {
    return PlainMatrix{random_numbers({out, in}, spread), random_numbers({out}, 0.1)};
  };
  const auto norm = [&](bool wanted, std::int64_t width) -> std::optional<Norm> {
    if (!wanted) {
      return std::nullopt;
    }
    const double centre = specification.norm == NormKind::rms_gemma ? 0 : 1;
    return Norm{random_numbers({width}, 0.2, centre),
                specification.norm == NormKind::layer ? random_numbers({width}, 0.1) : at::Tensor()};
  };
  PlainModel model;
  model.specification = specification;
  model.words = random_numbers({specification.vocabulary, hidden}, 1);
  if (!specification.names.positions.empty()) {
    model.positions = random_numbers({specification.max_tokens + specification.first_position, hidden}, 0.5);
  }
  const auto queries = specification.num_heads * specification.head_width;
  const auto keys = specification.num_key_heads * specification.head_width;
  for (std::size_t i = 0; i < specification.layers.size(); ++i) {
    PlainLayer layer;
    layer.attention_norm = norm(norms.attention, hidden);
    layer.attention_output_norm = norm(norms.attention_output, hidden);
    layer.feed_forward_norm = norm(norms.feed_forward, hidden);
    layer.feed_forward_output_norm = norm(norms.feed_forward_output, hidden);
    const bool whole = specification.query_key_norm == QueryKeyNorm::whole;
    const bool any = specification.query_key_norm != QueryKeyNorm::none;
    layer.query_norm = norm(any, whole ? queries : specification.head_width);
    layer.key_norm = norm(any, whole ? keys : specification.head_width);
    layer.query = matrix(queries, hidden);
    layer.key = matrix(keys, hidden);
    layer.value = matrix(keys, hidden);
    layer.output = matrix(hidden, queries);
    layer.sinks = norms.sinks ? random_numbers({specification.num_heads}, 1) : at::Tensor();
    const auto count = std::max<std::int64_t>(1, specification.experts.count);
    if (specification.experts.count > 0) {
      layer.router = random_numbers({count, hidden}, spread);
      layer.router_bias = norms.sinks ? random_numbers({count}, 0.1) : at::Tensor();
    }
    for (std::int64_t expert = 0; expert < count; ++expert) {
      PlainFeedForward forward;
      if (specification.gated) {
        forward.gate = matrix(specification.inner, hidden);
      }
      forward.up = matrix(specification.inner, hidden);
      forward.down = matrix(hidden, specification.inner);
      layer.experts.push_back(forward);
    }
    model.layers.push_back(layer);
  }
  model.embedding_norm = norm(norms.embedding, hidden);
  model.final_norm = norm(!specification.names.final_norm.empty(), hidden);
  model.head = specification.tied_head ? model.words : random_numbers({specification.vocabulary, hidden}, spread);
  model.head_bias = random_numbers({specification.vocabulary}, 0.1);
  return model;
}

/// The same model without the biases of its products, as LLaMA's.
inline PlainModel without_biases(PlainModel model) {
  for (auto& layer : model.layers) {
    for (auto* matrix : {&layer.query, &layer.key, &layer.value, &layer.output}) {
      matrix->bias.reset();
    }
    for (auto& expert : layer.experts) {
      for (auto* matrix : {&expert.gate, &expert.up, &expert.down}) {
        matrix->bias.reset();
      }
    }
  }
  model.head_bias.reset();
  return model;
}

/// The same numbers as the body takes them.
inline BodyWeights weights_of(const PlainModel& model, const at::TensorOptions& options) {
  const auto tensor = [&](const at::Tensor& numbers) {
    return numbers.defined() ? numbers.to(options.device()).to(options.dtype()) : at::Tensor();
  };
  const auto norm = [&](const std::optional<Norm>& plain) -> std::optional<Norm> {
    return plain ? std::optional(Norm{tensor(plain->weight), tensor(plain->bias)}) : std::nullopt;
  };
  const auto linear = [&](const std::vector<PlainMatrix>& parts) {
    std::vector<at::Tensor> weights;
    std::vector<at::Tensor> biases;
    for (const auto& part : parts) {
      weights.push_back(part.weight);
      biases.push_back(part.bias);
    }
    return Linear(tensor(at::cat(weights)), parts.front().bias.defined() ? tensor(at::cat(biases)) : at::Tensor());
  };
  BodyWeights weights;
  weights.words = tensor(model.words);
  weights.positions = tensor(model.positions);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const auto& plain = model.layers[i];
    Layer layer;
    layer.attention_norm = norm(plain.attention_norm);
    layer.attention_output_norm = norm(plain.attention_output_norm);
    layer.feed_forward_norm = norm(plain.feed_forward_norm);
    layer.feed_forward_output_norm = norm(plain.feed_forward_output_norm);
    layer.query_norm = norm(plain.query_norm);
    layer.key_norm = norm(plain.key_norm);
    if (i + 1 < model.layers.size()) {
      layer.query_key_value = linear({plain.query, plain.key, plain.value});
    } else {
      layer.query = linear({plain.query});
      layer.key_value = linear({plain.key, plain.value});
    }
    layer.attention_output = linear({plain.output});
    layer.sinks = plain.sinks.defined() ? plain.sinks.to(options.device()) : at::Tensor();
    std::vector<FeedForward> experts;
    for (const auto& expert : plain.experts) {
      experts.push_back(
          {model.specification.gated ? linear({expert.gate, expert.up}) : linear({expert.up}), linear({expert.down})});
    }
    if (plain.router.defined()) {
      layer.router = tensor(plain.router);
      layer.router_bias = tensor(plain.router_bias);
      layer.experts = experts;
    } else {
      layer.feed_forward = experts.front();
    }
    weights.layers.push_back(std::move(layer));
  }
  weights.embedding_norm = norm(model.embedding_norm);
  weights.final_norm = norm(model.final_norm);
  weights.head = model.specification.tied_head ? weights.words : tensor(model.head);
  weights.head_bias = model.head_bias.defined() ? model.head_bias.to(options.device()) : at::Tensor();
  return weights;
}

class PlainForward {
 public:
  explicit PlainForward(const PlainModel& model) : model_(model), specification_(model.specification) {}

  /// Hidden states [tokens, hidden] float64 of one sequence, before the final norm unless all layers run.
  at::Tensor hidden(const std::vector<std::int64_t>& ids, int layers) const {
    const auto count = std::ssize(ids);
    auto states = model_.words.to(at::kDouble).index_select(0, at::tensor(ids));
    states = states.mul(static_cast<double>(specification_.embedding_scale));
    if (!specification_.names.positions.empty()) {
      states = states.add(model_.positions.to(at::kDouble)
                              .slice(0, specification_.first_position, specification_.first_position + count));
    }
    states = norm(states, model_.embedding_norm);
    for (int i = 0; i < layers; ++i) {
      states = layer(i, states);
    }
    return layers == std::ssize(model_.layers) ? norm(states, model_.final_norm) : states;
  }

  at::Tensor logits(const at::Tensor& hidden) const {
    auto logits = at::matmul(hidden, model_.head.to(at::kDouble).t()).add(model_.head_bias.to(at::kDouble));
    logits = logits.mul(static_cast<double>(specification_.logits_scale));
    const double cap = specification_.logits_softcap;
    return cap == 0 ? logits : logits.div(cap).tanh().mul(cap);
  }

  /// Hidden states of every row of a tree: each row's path is a sequence of its own.
  at::Tensor hidden(const TokenTree& tree, int layers) const {
    std::vector<at::Tensor> rows(tree.ids.size());
    for (auto number = static_cast<int>(tree.branches.size()) - 1; number >= 0; --number) {
      if (rows[tree.branches[number].first].defined()) {
        continue;  // part of a longer path
      }
      std::vector<std::int64_t> path;
      for (auto at = number; at >= 0; at = tree.branches[at].parent) {
        const auto& branch = tree.branches[at];
        std::vector<std::int64_t> part(branch.length);
        std::iota(part.begin(), part.end(), branch.first);
        path.insert(path.begin(), part.begin(), part.end());
      }
      std::vector<std::int64_t> ids;
      for (const auto row : path) {
        ids.push_back(tree.ids[row]);
      }
      const auto states = hidden(ids, layers);
      for (std::size_t i = 0; i < path.size(); ++i) {
        rows[path[i]] = states[static_cast<std::int64_t>(i)];
      }
    }
    return at::stack(rows);
  }

 private:
  at::Tensor norm(const at::Tensor& x, const std::optional<Norm>& norm) const {
    if (!norm) {
      return x;
    }
    auto centred = x;
    if (specification_.norm == NormKind::layer) {
      centred = x.sub(x.mean(-1, true));
    }
    const auto scale = centred.square().mean(-1, true).add(specification_.norm_epsilon).rsqrt();
    auto weight = norm->weight.to(at::kDouble);
    if (specification_.norm == NormKind::rms_gemma) {
      weight = weight.add(1);
    }
    auto out = centred.mul(scale).mul(weight);
    return norm->bias.defined() ? out.add(norm->bias.to(at::kDouble)) : out;
  }

  static at::Tensor times(const at::Tensor& x, const PlainMatrix& matrix) {
    return at::linear(x, matrix.weight.to(at::kDouble), matrix.bias.to(at::kDouble));
  }

  at::Tensor active(const at::Tensor& x) const {
    switch (specification_.activation) {
      case Activation::gelu:
        return x.mul(at::erf(x.div(std::sqrt(2.0))).add(1)).mul(0.5);
      case Activation::gelu_tanh:
        return x.mul(at::tanh(x.pow(3).mul(0.044715).add(x).mul(std::sqrt(2 / 3.14159265358979))).add(1)).mul(0.5);
      case Activation::silu:
        return x.mul(at::sigmoid(x));
      case Activation::clipped_silu:
        return x.clamp_max(7).mul(at::sigmoid(x.clamp_max(7).mul(static_cast<double>(1.702F))));
      case Activation::relu:
        break;
    }
    return at::relu(x);
  }

  at::Tensor feed(const at::Tensor& x, const PlainFeedForward& forward) const {
    auto up = times(x, forward.up);
    if (specification_.activation == Activation::clipped_silu) {
      up = up.clamp(-7, 7).add(1);
    }
    return times(specification_.gated ? active(times(x, forward.gate)).mul(up) : active(up), forward.down);
  }

  at::Tensor feed(const at::Tensor& x, const PlainLayer& layer) const {
    if (!layer.router.defined()) {
      return feed(x, layer.experts.front());
    }
    auto scores = at::matmul(x, layer.router.to(at::kDouble).t());
    if (layer.router_bias.defined()) {
      scores = scores.add(layer.router_bias.to(at::kDouble));
    }
    const auto chances = at::softmax(scores, -1);
    const auto [top, which] = at::topk(chances, specification_.experts.per_token, -1);
    const auto weights = specification_.experts.renormalize ? top.div(top.sum(-1, true)) : top;
    std::vector<at::Tensor> rows;
    for (std::int64_t row = 0; row < x.size(0); ++row) {
      auto sum = at::zeros({x.size(1)}, at::kDouble);
      for (std::int64_t i = 0; i < top.size(1); ++i) {
        sum = sum.add(
            feed(x[row].unsqueeze(0), layer.experts[which[row][i].item<std::int64_t>()])[0].mul(weights[row][i]));
      }
      rows.push_back(sum);
    }
    return at::stack(rows);
  }

  // [heads, tokens, width], turned
  at::Tensor turned(const at::Tensor& heads, int number) const {
    const int which = specification_.layers[number].rotary;
    if (specification_.rotaries.empty() || which < 0) {
      return heads;
    }
    const auto& rotary = specification_.rotaries[which];
    auto out = heads.clone();
    for (std::int64_t i = 0; i < rotary.width / 2; ++i) {
      const bool by_halves = rotary.pairs == RotaryPairs::halves;
      const auto one = by_halves ? i : 2 * i;
      const auto two = by_halves ? i + rotary.width / 2 : 2 * i + 1;
      const auto angle = at::arange(heads.size(1), at::kFloat).mul(rotary.inverse_frequencies[i]).to(at::kDouble);
      const auto cosine = angle.cos().mul(static_cast<double>(rotary.scaling));
      const auto sine = angle.sin().mul(static_cast<double>(rotary.scaling));
      const auto x = heads.select(2, one);
      const auto y = heads.select(2, two);
      out.select(2, one).copy_(x.mul(cosine).sub(y.mul(sine)));
      out.select(2, two).copy_(y.mul(cosine).add(x.mul(sine)));
    }
    return out;
  }

  at::Tensor by_head(const at::Tensor& rows, std::int64_t heads, const std::optional<Norm>& normed) const {
    auto x = rows;
    if (specification_.query_key_norm == QueryKeyNorm::whole) {
      x = norm(x, normed);
    }
    x = x.unflatten(1, {heads, specification_.head_width}).transpose(0, 1);
    return specification_.query_key_norm == QueryKeyNorm::per_head ? norm(x, normed) : x;
  }

  at::Tensor attention(int number, const at::Tensor& x) const {
    const auto& layer = model_.layers[number];
    const auto heads = specification_.num_heads;
    const auto key_heads = specification_.num_key_heads;
    const auto count = x.size(0);
    const auto q = turned(by_head(times(x, layer.query), heads, layer.query_norm), number);
    const auto k = turned(by_head(times(x, layer.key), key_heads, layer.key_norm), number);
    const auto v = times(x, layer.value).unflatten(1, {key_heads, specification_.head_width}).transpose(0, 1);
    std::vector<at::Tensor> mixed;
    const auto window = specification_.layers[number].window;
    const double scale = specification_.attention_scale / (specification_.scale_by_layer ? number + 1.0 : 1.0);
    for (std::int64_t head = 0; head < heads; ++head) {
      const auto shared = head / (heads / key_heads);
      auto scores = at::matmul(q[head], k[shared].t());
      at::Tensor bias = at::zeros({count}, at::kDouble);
      if (!specification_.alibi_slopes.empty()) {
        for (std::int64_t j = 0; j < count; ++j) {
          const c10::BFloat16 place(static_cast<float>(j));
          const auto slope = specification_.alibi_slopes[head];
          bias[j] = specification_.alibi_rounding == AlibiRounding::model
                        ? static_cast<double>(slope) * static_cast<double>(j)
                        : static_cast<double>(c10::BFloat16(slope * static_cast<float>(place)));
        }
      }
      scores = scores.mul(scale).add(bias, specification_.alibi_scale);
      if (specification_.attention_softcap != 0) {
        const double cap = specification_.attention_softcap;
        scores = scores.div(cap).tanh().mul(cap);
      }
      const auto places = at::arange(count);
      const auto distance = places.unsqueeze(1).sub(places.unsqueeze(0));
      scores = scores.masked_fill(distance.lt(0), -std::numeric_limits<double>::infinity());
      if (window > 0) {
        scores = scores.masked_fill(distance.ge(window), -std::numeric_limits<double>::infinity());
      }
      if (layer.sinks.defined()) {
        scores = at::cat({scores, layer.sinks[head].to(at::kDouble).expand({count, 1})}, 1);
      }
      mixed.push_back(at::matmul(at::softmax(scores, -1).slice(1, 0, count), v[shared]));
    }
    return times(at::cat(mixed, 1), layer.output);
  }

  at::Tensor layer(int number, const at::Tensor& x) const {
    const auto& plain = model_.layers[number];
    switch (specification_.residual) {
      case Residual::parallel: {
        const auto normed = norm(x, plain.attention_norm);
        const auto other = plain.feed_forward_norm ? norm(x, plain.feed_forward_norm) : normed;
        return x.add(norm(attention(number, normed), plain.attention_output_norm))
            .add(norm(feed(other, plain), plain.feed_forward_output_norm));
      }
      case Residual::after_adding: {
        const auto n = norm(x.add(attention(number, x)), plain.attention_norm);
        return norm(n.add(feed(n, plain)), plain.feed_forward_norm);
      }
      case Residual::sequential:
        break;
    }
    const auto attended = x.add(norm(attention(number, norm(x, plain.attention_norm)), plain.attention_output_norm));
    return attended.add(norm(feed(norm(attended, plain.feed_forward_norm), plain), plain.feed_forward_output_norm));
  }

  const PlainModel& model_;
  const CausalSpecification& specification_;
};

}  // namespace stereosweep::model::testing
