// What engines ask of a device that is no CPU: launches a layer and a batch, copies that the host waits for, bytes
// gathered. Counted on the fake device with small models, since none of these follows from a model's widths.
// bench_device_counts [--operators]: with the operators of a layer.
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/CausalTokenizer.hpp"
#include "engine/causal/CausalEngine.hpp"
#include "engine/masked/MaskedEngine.hpp"
#include "model/CausalReference.hpp"
#include "model/TinyCheckpoint.hpp"
#include "model/families/Families.hpp"
#include "model/masked/MaskedWeights.hpp"
#include "support/FakeDevice.hpp"

namespace {

using namespace stereosweep;
using engine::CausalEngine;
using engine::MaskedEngine;
using model::CausalSpecification;
using testing::DeviceCounts;

constexpr std::int64_t few_layers = 6;
constexpr std::int64_t many_layers = 12;
constexpr std::int64_t batch_tokens = 16384;
constexpr int short_text = 4;  // new tokens
constexpr int long_text = 12;

using Ask = std::function<void(query::Engine&)>;
using Make = std::function<std::unique_ptr<query::Engine>(std::int64_t layers)>;

at::TensorOptions on_device(at::ScalarType type) { return at::TensorOptions(testing::fake_device()).dtype(type); }

DeviceCounts counts_of(const Make& make, std::int64_t layers, const Ask& ask) {
  const auto engine = make(layers);
  ask(*engine);  // what is made once
  testing::reset_device_counts();
  ask(*engine);
  return testing::device_counts();
}

void check(const std::vector<query::Answer>& answers) {
  for (const auto& answer : answers) {
    if (const auto* error = std::get_if<query::QueryError>(&answer)) {
      throw std::runtime_error(error->message);
    }
  }
}

Ask asks(std::vector<query::Query> queries) {
  return [queries = std::move(queries)](query::Engine& engine) { check(engine.answer(queries)); };
}

bool prints_operators = false;

/// One line of the table: of a call with one batch.
void report(const std::string& name, const Make& make, const Ask& ask) {
  const auto few = counts_of(make, few_layers, ask);
  const auto many = counts_of(make, many_layers, ask);
  const auto layers = static_cast<double>(many_layers - few_layers);
  std::printf("| %s | %.1f | %lld | %lld | %lld | %lld | %lld | %.2f |\n", name.c_str(),
              static_cast<double>(many.all_launches() - few.all_launches()) / layers,
              static_cast<long long>(many.all_launches()), static_cast<long long>(many.waiting_uploads),
              static_cast<long long>(many.waiting_downloads), static_cast<long long>(many.synchronisations),
              static_cast<long long>(many.non_blocking_copies),
              static_cast<double>(many.gathered_bytes - few.gathered_bytes) / layers / 1e6);
  for (const auto& [op, count] : many.launches) {
    const auto before = few.launches.find(op);
    const auto each = static_cast<double>(count - (before == few.launches.end() ? 0 : before->second)) / layers;
    if (prints_operators && each > 0) {
      std::printf("    %s %.2f\n", op.c_str(), each);
    }
  }
}

// The same of one step of texts that grow: what a longer text takes more.
void report_step(const std::string& name, const Make& make, const std::function<Ask(int tokens)>& asks_for) {
  const auto step = [&](std::int64_t layers) {
    const auto one = counts_of(make, layers, asks_for(short_text));
    const auto more = counts_of(make, layers, asks_for(long_text));
    const auto each = [](std::int64_t now, std::int64_t then) {
      return static_cast<double>(now - then) / (long_text - short_text);
    };
    struct Step {
      double launches, uploads, downloads, synchronisations, non_blocking, gathered;
    };
    return Step{
        each(more.all_launches(), one.all_launches()),           each(more.waiting_uploads, one.waiting_uploads),
        each(more.waiting_downloads, one.waiting_downloads),     each(more.synchronisations, one.synchronisations),
        each(more.non_blocking_copies, one.non_blocking_copies), each(more.gathered_bytes, one.gathered_bytes)};
  };
  const auto few = step(few_layers);
  const auto many = step(many_layers);
  const auto layers = static_cast<double>(many_layers - few_layers);
  std::printf("| %s | %.1f | %.0f | %.2f | %.2f | %.2f | %.2f | %.3f |\n", name.c_str(),
              (many.launches - few.launches) / layers, many.launches, many.uploads, many.downloads,
              many.synchronisations, many.non_blocking, (many.gathered - few.gathered) / layers / 1e6);
}

base::FileSet masked_files(std::int64_t layers) {
  auto files = model::testing::tiny_checkpoint("bert", layers).files();
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    vocabulary += std::string(1, letter) + "\n";
  }
  for (char letter = 'a'; letter <= 'e'; ++letter) {
    vocabulary += "##" + std::string(1, letter) + "\n";
  }
  files.add("vocab.txt", base::to_shared(vocabulary));
  return files;
}

/// An engine with what it borrows.
class BertLike : public query::Engine {
 public:
  BertLike(std::int64_t layers, at::ScalarType type)
      : files_(masked_files(layers)), tokenizer_(tokenizer::Tokenizer::from_files(files_)) {
    const c10::InferenceMode guard;
    const auto specification = model::read_masked_specification(files_);
    engine_ = std::make_unique<MaskedEngine>(
        model::make_masked_model(specification, model::load_masked_weights(files_, specification, on_device(type))),
        tokenizer_, batch_tokens);
  }
  std::vector<query::Answer> answer(std::span<const query::Query> queries) override { return engine_->answer(queries); }
  query::EngineCounts counts() const override { return engine_->counts(); }
  std::optional<std::string> lacks(query::Prediction asked) const override { return engine_->lacks(asked); }

 private:
  base::FileSet files_;
  tokenizer::Tokenizer tokenizer_;
  std::unique_ptr<MaskedEngine> engine_;
};

class Decoder : public query::Engine {
 public:
  Decoder(CausalSpecification specification, std::int64_t layers, at::ScalarType type)
      : tokenizer_(engine::testing::causal_tokenizer(engine::testing::FirstToken::beginning)) {
    const c10::InferenceMode guard;
    specification.layers.assign(static_cast<std::size_t>(layers), model::LayerKind{});
    const auto plain = model::testing::random_model(specification, {}, 0.1);
    engine_ = std::make_unique<CausalEngine>(
        model::make_causal_model(specification, model::testing::weights_of(plain, on_device(type))), tokenizer_,
        engine::CausalSettings{batch_tokens, {}});
  }
  std::vector<query::Answer> answer(std::span<const query::Query> queries) override { return engine_->answer(queries); }
  query::EngineCounts counts() const override { return engine_->counts(); }
  std::optional<std::string> lacks(query::Prediction asked) const override { return engine_->lacks(asked); }

 private:
  tokenizer::Tokenizer tokenizer_;
  std::unique_ptr<CausalEngine> engine_;
};

std::string letters(int count, int seed) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += static_cast<char>('e' + (seed * 7 + i * (seed % 5 + 3) + i * i) % 20);
  }
  return text;
}

/// Sentences of several lengths, together one batch.
std::vector<query::Query> fills(bool with_distances) {
  std::vector<query::Query> queries;
  for (int i = 0; i < 600; ++i) {
    query::Fill fill{"[MASK]", {}, true, with_distances};
    for (const char letter : letters(4 + i % 16, i)) {
      fill.text += std::string(" ") + letter;
    }
    fill.slots.push_back({std::nullopt, {7, 8, 9}});
    queries.emplace_back(fill);
  }
  return queries;
}

std::vector<query::Query> vectors() {
  std::vector<query::Query> queries;
  for (int i = 0; i < 600; ++i) {
    std::string text = "a";
    for (const char letter : letters(4 + i % 16, i)) {
      text += std::string(" ") + letter;
    }
    queries.emplace_back(query::Embed{text, {2, 7}, -1, query::Pool::mean});
  }
  return queries;
}

/// About 2200 rows in three levels: one beginning, 20 middles, 5 ends of each.
std::vector<query::Query> tree() {
  std::vector<query::Query> queries;
  const auto beginning = letters(40, 1);
  for (int middle = 0; middle < 20; ++middle) {
    query::Continue asked;
    asked.prompt = beginning + letters(30, 2 + middle);
    for (int end = 0; end < 5; ++end) {
      asked.continuations.push_back(letters(16, 30 + 5 * middle + end));
    }
    queries.emplace_back(asked);
  }
  return queries;
}

Ask texts(int tokens, double temperature, int top_k, double top_p) {
  std::vector<query::Query> queries;
  for (int i = 0; i < 64; ++i) {
    query::Generate asked;
    asked.prompt = letters(20, i);
    asked.max_new_tokens = tokens;
    asked.temperature = temperature;
    asked.top_k = top_k;
    asked.top_p = top_p;
    asked.seed = static_cast<std::uint64_t>(i);
    queries.emplace_back(asked);
  }
  return asks(std::move(queries));
}

CausalSpecification gpt2_like() {
  CausalSpecification shape;
  shape.family = "test";
  shape.vocabulary = 270;
  shape.hidden = 64;
  shape.inner = 128;
  shape.num_heads = 8;
  shape.num_key_heads = 8;
  shape.head_width = 8;
  shape.max_tokens = 128;
  shape.norm_epsilon = 1e-5;
  shape.attention_scale = 1 / std::sqrt(8.0F);
  shape.position = model::PositionKind::learned;
  shape.activation = model::Activation::gelu_tanh;
  return shape;
}

CausalSpecification llama_like() {
  auto shape = gpt2_like();
  shape.position = model::PositionKind::rotary;
  shape.rotaries = {model::Rotary{8, model::RotaryPairs::halves, {1, 0.3F, 0.1F, 0.03F}, 1}};
  shape.norm = model::NormKind::rms;
  shape.num_key_heads = 2;
  shape.gated = true;
  shape.activation = model::Activation::silu;
  return shape;
}

CausalSpecification mixtral_like() {
  auto shape = llama_like();
  shape.experts = {8, 2, true};
  return shape;
}

CausalSpecification alibi_like() {
  auto shape = gpt2_like();
  shape.position = model::PositionKind::alibi;
  shape.alibi_slopes = {0.5F, 0.25F, 0.125F, 0.0625F, 0.03125F, 0.015625F, 0.0078125F, 0.00390625F};
  return shape;
}

Make decoder(const CausalSpecification& shape, at::ScalarType type) {
  return [=](std::int64_t layers) { return std::make_unique<Decoder>(shape, layers, type); };
}

void run() {
  const Make bert = [](std::int64_t layers) { return std::make_unique<BertLike>(layers, at::kBFloat16); };
  const Make wide_bert = [](std::int64_t layers) { return std::make_unique<BertLike>(layers, at::kFloat); };
  std::printf("%lld layers; a call is one batch, or one step of decoding\n", static_cast<long long>(many_layers));
  std::printf(
      "| what | launches a layer | launches | uploads that wait | downloads that wait | synchronisations "
      "| copies that do not wait | MB gathered a layer |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  report("masked, bfloat16: fill", bert, asks(fills(false)));
  report("masked, bfloat16: SeT", bert, asks(fills(true)));
  report("masked, bfloat16: embed", bert, asks(vectors()));
  report("masked, float32: fill", wide_bert, asks(fills(false)));
  report("LLaMA-like tree, bfloat16", decoder(llama_like(), at::kBFloat16), asks(tree()));
  report("LLaMA-like tree, float32", decoder(llama_like(), at::kFloat), asks(tree()));
  report("GPT-2-like tree, bfloat16", decoder(gpt2_like(), at::kBFloat16), asks(tree()));
  report("ALiBi tree, bfloat16", decoder(alibi_like(), at::kBFloat16), asks(tree()));
  report("experts' tree, bfloat16", decoder(mixtral_like(), at::kBFloat16), asks(tree()));
  const auto step = [](double temperature, int top_k, double top_p) {
    return [=](int tokens) { return texts(tokens, temperature, top_k, top_p); };
  };
  report_step("LLaMA-like step of 64 texts: greedy", decoder(llama_like(), at::kBFloat16), step(0, 0, 1));
  report_step("LLaMA-like step of 64 texts: sampled", decoder(llama_like(), at::kBFloat16), step(1, 0, 1));
  report_step("LLaMA-like step of 64 texts: top-k", decoder(llama_like(), at::kBFloat16), step(1, 20, 1));
  report_step("LLaMA-like step of 64 texts: top-p", decoder(llama_like(), at::kBFloat16), step(1, 0, 0.9));
  report_step("GPT-2-like step of 64 texts: greedy", decoder(gpt2_like(), at::kBFloat16), step(0, 0, 1));
  report_step("experts' step of 64 texts: greedy", decoder(mixtral_like(), at::kBFloat16), step(0, 0, 1));
}

}  // namespace

int main(int argc, char** argv) {
  prints_operators = argc > 1 && std::string_view(argv[1]) == "--operators";
  run();
}
