// How fast the encoder is beside the processor's matrix product: tokens per second and share of the peak.
//   EncoderBench [layers hidden heads inner vocabulary [batch tokens [sequence length]]]     (default: BERT-base)
// Random weights, one thread, float32 and bfloat16; every sequence asks for one row of the last layer, the head runs
// over the rows of several batches at once, as the engine does. The work credited is that of the whole last layer.
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/MatmulPeak.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/Linear.hpp"
#include "model/masked/MaskedModel.hpp"

namespace {

using namespace stereosweep::model;
namespace bench = stereosweep::bench;

MaskedWeights random_weights(const MaskedSpecification& config, at::ScalarType type) {
  const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
    return at::randn({rows, columns}, at::kFloat).mul_(0.02).to(type);
  };
  const auto linear = [&](std::int64_t out, std::int64_t in) {
    return Linear(matrix(out, in), at::zeros({out}, type));
  };
  const auto hidden = config.hidden;
  const auto norm = [&] { return Norm{at::ones({hidden}, type), at::zeros({hidden}, type)}; };
  MaskedWeights weights;
  weights.words = matrix(config.vocabulary, hidden);
  weights.positions = matrix(config.positions, hidden);
  weights.embedding_norm = norm();
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    Layer layer;
    if (i + 1 < config.layers.size()) {
      layer.query_key_value = linear(3 * hidden, hidden);
    } else {
      layer.query = linear(hidden, hidden);
      layer.key_value = linear(2 * hidden, hidden);
    }
    layer.attention_output = linear(hidden, hidden);
    layer.attention_norm = norm();
    layer.feed_forward = {linear(config.inner, hidden), linear(hidden, config.inner)};
    layer.feed_forward_norm = norm();
    weights.layers.push_back(std::move(layer));
  }
  weights.head_dense = linear(hidden, hidden);
  weights.head_norm = norm();
  weights.head = weights.words;
  weights.head_bias = at::zeros({config.vocabulary}, at::kFloat);
  return weights;
}

struct Batch {
  Packed packed;
  std::vector<std::int64_t> rows;
};

// Lengths around `length`, as templates with groups of one to four tokens have.
Batch make_batch(std::int64_t tokens, std::int64_t length, std::int64_t vocabulary) {
  Batch batch;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; begin + length <= tokens; ++i) {
    const auto size = std::min<std::int64_t>(tokens - begin, std::max<std::int64_t>(1, length - 2 + i % 5));
    batch.packed.lengths.push_back(static_cast<std::int32_t>(size));
    batch.rows.push_back(begin + size / 2);
    begin += size;
  }
  for (std::int64_t i = 0; i < begin; ++i) {
    batch.packed.ids.push_back(static_cast<std::int32_t>((i * 7919) % vocabulary));
  }
  return batch;
}

double credited_flops(const MaskedSpecification& config, const Batch& batch) {
  const double hidden = static_cast<double>(config.hidden);
  const double weights = 4 * hidden * hidden + 2 * hidden * static_cast<double>(config.inner);
  double attended = 0;
  for (const auto length : batch.packed.lengths) {
    attended += static_cast<double>(length) * length;
  }
  return static_cast<double>(config.layers.size()) *
         (2 * weights * static_cast<double>(batch.packed.ids.size()) + 4 * attended * hidden);
}

double head_flops(const MaskedSpecification& config, std::size_t rows) {
  const double hidden = static_cast<double>(config.hidden);
  return 2.0 * static_cast<double>(rows) * hidden * (hidden + static_cast<double>(config.vocabulary));
}

void measure(const MaskedSpecification& config, at::ScalarType type, const Batch& batch) {
  const double roof = bench::matmul_peak(type);
  const auto model = make_masked_model(config, random_weights(config, type));
  const auto& encoder = *model;
  const auto layers = encoder.shape().num_layers;
  const double body = bench::best_seconds([&] { encoder.hidden(batch.packed, layers, batch.rows); }, 3);
  const auto few = encoder.hidden(batch.packed, layers, batch.rows);
  const auto many = few.repeat({std::max<std::int64_t>(1, 256 / few.size(0)), 1});
  const double head = bench::best_seconds([&] { encoder.logits(encoder.head_input(many)); }) *
                      static_cast<double>(few.size(0)) / static_cast<double>(many.size(0));
  const double body_rate = 1e-9 * credited_flops(config, batch) / body;
  const double head_rate = 1e-9 * head_flops(config, batch.rows.size()) / head;
  const double all_rate =
      1e-9 * (credited_flops(config, batch) + head_flops(config, batch.rows.size())) / (body + head);
  std::printf(
      "%-9s peak %5.0f GFLOP/s | body %6.0f tokens/s, %5.0f GFLOP/s (%3.0f %%) | head %5.0f rows/s, %5.0f GFLOP/s | "
      "both %6.0f tokens/s, %3.0f %% of the peak\n",
      type == at::kFloat ? "float32" : "bfloat16", roof, static_cast<double>(batch.packed.ids.size()) / body, body_rate,
      100 * body_rate / roof, static_cast<double>(batch.rows.size()) / head, head_rate,
      static_cast<double>(batch.packed.ids.size()) / (body + head), 100 * all_rate / roof);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> values{12, 768, 12, 3072, 30522, 512, 10};
  for (int i = 1; i < argc && i <= static_cast<int>(values.size()); ++i) {
    values[i - 1] = std::atoll(argv[i]);
  }
  configure_threads(1);
  const c10::InferenceMode guard;
  MaskedSpecification config;
  config.residual = Residual::after_adding;
  config.names.positions = "positions";
  config.layers.resize(static_cast<std::size_t>(values[0]));
  config.hidden = values[1];
  config.num_heads = values[2];
  config.inner = values[3];
  config.vocabulary = values[4];
  config.positions = config.max_tokens = 512;
  config.head_width = config.hidden / config.num_heads;
  config.norm_epsilon = 1e-12;
  const auto batch = make_batch(values[5], values[6], config.vocabulary);
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    measure(config, type, batch);
  }
  return 0;
}
