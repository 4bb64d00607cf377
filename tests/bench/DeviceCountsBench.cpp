// What engines ask of a device that is no CPU: launches a layer and a batch, copies that the host waits for, bytes
// gathered. Counted on the fake device with small models, since none of these follows from a model's widths.
// bench_device_counts [--operators]: with the operators of a layer.
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "engine/DeviceWork.hpp"
#include "support/FakeDevice.hpp"

namespace {

using namespace stereosweep::engine::testing;

constexpr std::int64_t few_layers = 6;
constexpr std::int64_t many_layers = 12;
constexpr int short_text = 4;  // new tokens
constexpr int long_text = 12;

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

void run() {
  std::printf("%lld layers; a call is one batch, or one step of decoding\n", static_cast<long long>(many_layers));
  std::printf(
      "| what | launches a layer | launches | uploads that wait | downloads that wait | synchronisations "
      "| copies that do not wait | MB gathered a layer |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  report("masked, bfloat16: fill", bert(at::kBFloat16), asks(fills(false)));
  report("masked, bfloat16: SeT", bert(at::kBFloat16), asks(fills(true)));
  report("masked, bfloat16: embed", bert(at::kBFloat16), asks(vectors()));
  report("masked, float32: fill", bert(at::kFloat), asks(fills(false)));
  report("LLaMA-like tree, bfloat16", decoder(llama_like(), at::kBFloat16), asks(tree()));
  report("LLaMA-like tree, float32", decoder(llama_like(), at::kFloat), asks(tree()));
  report("GPT-2-like tree, bfloat16", decoder(gpt2_like(), at::kBFloat16), asks(tree()));
  report("ALiBi tree, bfloat16", decoder(alibi_like(), at::kBFloat16), asks(tree()));
  report("capped tree, bfloat16", decoder(capped_like(), at::kBFloat16), asks(tree()));
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
