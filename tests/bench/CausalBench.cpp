// How fast the causal body is beside the processor's matrix product: tokens per second and share of the peak.
//   bench_causal [gpt2 | llama [tokens [trunk [branch [leaves]]]]]        (default: both, 4096 tokens, 50, 18, 2)
// Random weights in the shape of GPT-2 small or LLaMA-160M, one thread, float32 and bfloat16. The tree is that of
// continuations: trunks (instructions) carry branches (sentences) that end in leaves of one token (first tokens of
// continuations of two); every branch's last row and every leaf is read, and the head runs over all of them. The work
// credited is that of all layers for every distinct token. Last, a step of generation: a token for each of 1, 8 and 64
// sequences behind the trunk, beside the time that reading the weights once takes.
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/MatmulPeak.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/causal/CausalModel.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/Linear.hpp"

namespace {

using namespace stereosweep::model;
namespace bench = stereosweep::bench;

CausalSpecification specification_of(const std::string& name) {
  CausalSpecification s;
  const bool gpt2 = name == "gpt2";
  s.family = name;
  s.vocabulary = gpt2 ? 50257 : 32000;
  s.hidden = 768;
  s.inner = 3072;
  s.num_heads = 12;
  s.num_key_heads = gpt2 ? 12 : 4;
  s.head_width = 64;
  s.max_tokens = 1024;
  s.layers.assign(12, LayerKind{});
  s.norm = gpt2 ? NormKind::layer : NormKind::rms;
  s.norm_epsilon = 1e-5;
  s.names.positions = gpt2 ? "positions" : "";
  s.attention_scale = 0.125F;
  s.activation = gpt2 ? Activation::gelu_tanh : Activation::silu;
  s.gated = !gpt2;
  if (gpt2) {
    return s;
  }
  Rotary rotary{s.head_width, RotaryPairs::halves, {}, 1};
  for (std::int64_t i = 0; i < 32; ++i) {
    rotary.inverse_frequencies.push_back(1.0F / std::pow(10000.0F, static_cast<float>(i) / 32.0F));
  }
  s.rotaries = {rotary};
  return s;
}

BodyWeights random_weights(const CausalSpecification& s, at::ScalarType type) {
  const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
    return at::randn({rows, columns}, at::kFloat).mul_(0.02).to(type);
  };
  const auto linear = [&](std::int64_t out, std::int64_t in) {
    return Linear(matrix(out, in), at::zeros({out}, type));
  };
  const auto norm = [&] {
    return Norm{at::ones({s.hidden}, type), s.norm == NormKind::layer ? at::zeros({s.hidden}, type) : at::Tensor()};
  };
  BodyWeights weights;
  weights.words = matrix(s.vocabulary, s.hidden);
  weights.positions = matrix(s.max_tokens, s.hidden);
  const auto queries = s.num_heads * s.head_width;
  const auto keys = s.num_key_heads * s.head_width;
  for (std::size_t i = 0; i < s.layers.size(); ++i) {
    Layer layer;
    layer.attention_norm = norm();
    layer.feed_forward_norm = norm();
    if (i + 1 < s.layers.size()) {
      layer.query_key_value = linear(queries + 2 * keys, s.hidden);
    } else {
      layer.query = linear(queries, s.hidden);
      layer.key_value = linear(2 * keys, s.hidden);
    }
    layer.attention_output = linear(s.hidden, queries);
    layer.feed_forward = {linear(s.gated ? 2 * s.inner : s.inner, s.hidden), linear(s.hidden, s.inner)};
    weights.layers.push_back(std::move(layer));
  }
  weights.final_norm = norm();
  weights.head = weights.words;
  return weights;
}

double layer_weights(const CausalSpecification& s) {
  const auto hidden = static_cast<double>(s.hidden);
  const auto heads = static_cast<double>((2 * s.num_heads + 2 * s.num_key_heads) * s.head_width);
  return hidden * (heads + (s.gated ? 3 : 2) * static_cast<double>(s.inner));
}

struct Work {
  TokenTree tree;
  std::vector<std::int64_t> rows;
  double attended = 0;  // pairs of rows
};

void add_branch(Work& work, int parent, std::int64_t length) {
  auto& tree = work.tree;
  TokenTree::Branch branch;
  branch.first = static_cast<std::int32_t>(tree.ids.size());
  branch.length = static_cast<std::int32_t>(length);
  branch.parent = parent;
  branch.depth = parent < 0 ? 0 : tree.branches[parent].depth + tree.branches[parent].length;
  for (std::int64_t i = 0; i < length; ++i) {
    tree.ids.push_back(static_cast<std::int32_t>(tree.ids.size() * 7919 % 30000));
    work.attended += static_cast<double>(branch.depth + i + 1);
  }
  tree.branches.push_back(branch);
}

Work make_work(std::int64_t tokens, std::int64_t trunk, std::int64_t branch, std::int64_t leaves) {
  Work work;
  int root = -1;
  for (std::int64_t i = 0; std::ssize(work.tree.ids) + trunk + branch + leaves + 4 <= tokens; ++i) {
    if (i % 40 == 0) {
      add_branch(work, -1, trunk);
      root = static_cast<int>(work.tree.branches.size()) - 1;
    }
    add_branch(work, root, branch - 2 + i % 5);
    const int sentence = static_cast<int>(work.tree.branches.size()) - 1;
    work.rows.push_back(std::ssize(work.tree.ids) - 1);
    for (std::int64_t leaf = 0; leaf < leaves; ++leaf) {
      add_branch(work, sentence, 1);
      work.rows.push_back(std::ssize(work.tree.ids) - 1);
    }
  }
  return work;
}

void measure_step(const CausalModel& body, std::int64_t sequences, double weight_bytes) {
  Work work;
  for (std::int64_t i = 0; i < sequences; ++i) {
    add_branch(work, -1, 50);
  }
  const auto memory = body.remember(0);
  body.extend(*memory, work.tree, {});
  std::vector<int> ends;
  for (std::int64_t i = 0; i < sequences; ++i) {
    ends.push_back(static_cast<int>(i));
  }
  double best = 1e9;
  for (int step = 0; step < 12; ++step) {
    std::vector<std::int64_t> rows;
    for (auto& end : ends) {
      rows.push_back(std::ssize(work.tree.ids));
      add_branch(work, end, 1);
      end = static_cast<int>(work.tree.branches.size()) - 1;
    }
    const double start = bench::thread_seconds();
    body.extend(*memory, work.tree, rows);
    best = std::min(best, bench::thread_seconds() - start);
  }
  std::printf("  a step of %2lld sequences: %6.2f ms, weights read at %5.1f GB/s\n", static_cast<long long>(sequences),
              1e3 * best, 1e-9 * weight_bytes / best);
}

void measure(const std::string& name, at::ScalarType type, const Work& work, std::int64_t rows_at_once) {
  const auto specification = specification_of(name);
  const auto made =
      make_causal_model(specification, random_weights(specification, type), {rows_at_once, Kernels::own_kernels});
  const auto& body = *made;
  const double roof = bench::matmul_peak(type);
  const auto layers = body.shape().num_layers;
  const auto tokens = static_cast<double>(work.tree.ids.size());
  const double seconds = bench::best_seconds([&] { body.hidden(work.tree, layers, work.rows); }, 4);
  const auto some = body.hidden(work.tree, layers, work.rows);
  const auto rows = std::min<std::int64_t>(128, some.size(0));
  const double head = bench::best_seconds([&] { body.logits(some.slice(0, 0, rows)); }) *
                      static_cast<double>(some.size(0)) / static_cast<double>(rows);
  const double depth = layers;
  const double products = depth * 2 * tokens * layer_weights(specification);
  const double attention = depth * 4 * work.attended * static_cast<double>(specification.num_heads * 64);
  const double projection = 2.0 * static_cast<double>(some.size(0)) * static_cast<double>(specification.hidden) *
                            static_cast<double>(specification.vocabulary);
  std::printf(
      "%-5s %-8s peak %5.0f GFLOP/s | body %6.0f tokens/s, %3.0f %% of the peak (attention %.1f %% of the work) | with "
      "the head %6.0f tokens/s, %3.0f %%\n",
      name.c_str(), type == at::kFloat ? "float32" : "bfloat16", roof, tokens / seconds,
      100e-9 * (products + attention) / seconds / roof, 100 * attention / (products + attention),
      tokens / (seconds + head), 100e-9 * (products + attention + projection) / (seconds + head) / roof);
  const double bytes = depth * layer_weights(specification) * (type == at::kFloat ? 4 : 2);
  for (const std::int64_t sequences : {1, 8, 64}) {
    measure_step(body, sequences, bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> values{4096, 50, 18, 2, 0};
  for (int i = 2; i < argc && i < 7; ++i) {
    values[i - 2] = std::atoll(argv[i]);
  }
  configure_threads(1);
  const c10::InferenceMode guard;
  const auto work = make_work(values[0], values[1], values[2], values[3]);
  for (const std::string name : {"gpt2", "llama"}) {
    if (argc > 1 && name != argv[1]) {
      continue;
    }
    for (const auto type : {at::kFloat, at::kBFloat16}) {
      measure(name, type, work, values[4]);
    }
  }
  return 0;
}
