// What torch's real CUDA library launches for a layer and a step, by kernel, and how long the host takes for it, on a
// GPU that runs nothing (support/NullGpu.hpp). Times are of the processor, without the driver: a true launch adds 2 to
// 5 us. bench_null_gpu [--kernels] [--times]: each launch of a layer by its kernel; times alone.
#include <ATen/Context.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/DeviceWork.hpp"
#include "model/kernels/Kernels.hpp"
#include "support/NullGpu.hpp"
#include "support/ProcessorTime.hpp"

namespace {

using namespace stereosweep;
using namespace stereosweep::engine::testing;
using stereosweep::testing::null_gpu_launches;
using stereosweep::testing::null_gpu_total;
using stereosweep::testing::reset_null_gpu;

using Launches = std::map<std::string, std::int64_t>;

constexpr std::int64_t few_layers = 2;
constexpr std::int64_t many_layers = 6;
constexpr int short_text = 2;  // new tokens
constexpr int long_text = 18;
constexpr int repeats = 15;

// Numbers are zeros here, and whatever the answers are does not count.
void ask(query::Engine& engine, const std::vector<query::Query>& queries) { engine.answer(queries); }

Launches launches_of(query::Engine& engine, const std::vector<query::Query>& queries) {
  ask(engine, queries);  // what is made once
  reset_null_gpu();
  ask(engine, queries);
  return null_gpu_launches();
}

Launches less(Launches all, const Launches& some) {
  for (const auto& [name, times] : some) {
    all[name] -= times;
  }
  return all;
}

void print(const std::string& name, const Launches& layers, double count, const Launches& whole, double calls) {
  std::int64_t of_layers = 0;
  std::int64_t of_all = 0;
  for (const auto& [kernel, times] : layers) {
    of_layers += times;
  }
  for (const auto& [kernel, times] : whole) {
    of_all += times;
  }
  const auto each = static_cast<double>(of_layers) / count / calls;
  std::printf("| %s | %.2f | %.1f |\n", name.c_str(), each,
              static_cast<double>(of_all) / calls - each * static_cast<double>(few_layers));
}

void print_kernels(const Launches& launches, double count) {
  for (const auto& [kernel, times] : launches) {
    if (times != 0) {
      std::printf("    %7.2f %s\n", static_cast<double>(times) / count, kernel.substr(0, 260).c_str());
    }
  }
}

bool prints_kernels = false;

void report(const std::string& name, const Make& make, const std::vector<query::Query>& queries) {
  const auto few = launches_of(*make(few_layers), queries);
  const auto layers = less(launches_of(*make(many_layers), queries), few);
  print(name, layers, many_layers - few_layers, few, 1);
  if (prints_kernels) {
    print_kernels(layers, many_layers - few_layers);
    std::printf("  whole call\n");
    print_kernels(few, 1);
  }
}

void report_step(const std::string& name, const Make& make, int texts, const query::Generate& sampling) {
  const auto step = [&](std::int64_t layers) {
    const auto engine = make(layers);
    const auto short_ones = launches_of(*engine, growing(texts, short_text, sampling));
    return less(launches_of(*engine, growing(texts, long_text, sampling)), short_ones);
  };
  const auto few = step(few_layers);
  const auto layers = less(step(many_layers), few);
  print(name, layers, many_layers - few_layers, few, long_text - short_text);
  if (prints_kernels) {
    print_kernels(layers, (many_layers - few_layers) * (long_text - short_text));
    std::printf("  whole step\n");
    print_kernels(few, long_text - short_text);
  }
}

double least_seconds(const std::function<void()>& work) {
  double least = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const ProcessorTime time;
    work();
    least = std::min(least, time.seconds());
  }
  return least;
}

void time_batch(const std::string& name, const Make& make, std::int64_t layers,
                const std::vector<query::Query>& queries) {
  const auto engine = make(layers);
  ask(*engine, queries);
  double least = 1e9;
  double least_reading = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto call = engine->plan(queries);
    const ProcessorTime time;
    call->run();
    least = std::min(least, time.seconds());
    const ProcessorTime reading;
    call->read();
    least_reading = std::min(least_reading, reading.seconds());
  }
  std::printf("| %s | %.2f ms | %.2f ms |\n", name.c_str(), least * 1e3, least_reading * 1e3);
}

void time_step(const std::string& name, const Make& make, std::int64_t layers, int texts,
               const query::Generate& sampling) {
  const auto engine = make(layers);
  const auto time = [&](int tokens) {
    const auto queries = growing(texts, tokens, sampling);
    ask(*engine, queries);
    return least_seconds([&] { ask(*engine, queries); });
  };
  const auto short_time = time(short_text);
  std::printf("| %s | %.2f ms | |\n", name.c_str(), (time(long_text) - short_time) / (long_text - short_text) * 1e3);
}

query::Generate greedy() {
  query::Generate sampling;
  sampling.temperature = 0;
  return sampling;
}

void print_launches() {
  std::printf("| what | launches a layer | outside of layers |\n| --- | --- | --- |\n");
  const auto half = on_gpu(at::kBFloat16);
  report("masked, bfloat16: fill", bert(half), fills(false));
  report("masked, bfloat16: SeT", bert(half), fills(true));
  report("masked, bfloat16: embed", bert(half), vectors());
  report("masked, float32: fill", bert(on_gpu(at::kFloat)), fills(false));
  report("LLaMA-like tree, bfloat16", decoder(llama_like(), half), tree());
  report("LLaMA-like tree, float32", decoder(llama_like(), on_gpu(at::kFloat)), tree());
  report("GPT-2-like tree, bfloat16", decoder(gpt2_like(), half), tree());
  report("ALiBi tree, bfloat16", decoder(alibi_like(), half), tree());
  report("capped tree, bfloat16", decoder(capped_like(), half), tree());
  report("experts' tree, bfloat16", decoder(mixtral_like(), half), tree());
  auto sampled = greedy();
  sampled.temperature = 1;
  auto top_k = sampled;
  top_k.top_k = 20;
  auto nucleus = sampled;
  nucleus.top_p = 0.9;
  auto penalized = greedy();
  penalized.repetition_penalty = 1.3;
  const auto llama = decoder(llama_like(), half);
  report_step("LLaMA-like step of 64 texts: greedy", llama, 64, greedy());
  report_step("LLaMA-like step of 64 texts: sampled", llama, 64, sampled);
  report_step("LLaMA-like step of 64 texts: top-k", llama, 64, top_k);
  report_step("LLaMA-like step of 64 texts: top-p", llama, 64, nucleus);
  report_step("LLaMA-like step of 64 texts: penalized", llama, 64, penalized);
  report_step("GPT-2-like step of 64 texts: greedy", decoder(gpt2_like(), half), 64, greedy());
  report_step("experts' step of 64 texts: greedy", decoder(mixtral_like(), half), 64, greedy());
}

void print_times() {
  std::printf("| what | the host's time | and to read it |\n| --- | --- | --- |\n");
  stereosweep::testing::count_names_of_null_gpu(false);
  const auto half = on_gpu(at::kBFloat16);
  time_batch("masked, 24 layers: a batch", bert(half), 24, fills(true));
  time_batch("LLaMA-like, 32 layers: a tree", decoder(llama_like(), half), 32, tree());
  auto sampled = greedy();
  sampled.temperature = 1;
  time_step("LLaMA-like, 32 layers: a greedy step of 64 texts", decoder(llama_like(), half), 32, 64, greedy());
  time_step("LLaMA-like, 32 layers: a sampled step of 64 texts", decoder(llama_like(), half), 32, 64, sampled);
  time_step("LLaMA-like, 32 layers: a greedy step of 256 texts", decoder(llama_like(), half), 32, 256, greedy());
  time_step("GPT-2-like, 12 layers: a greedy step of 64 texts", decoder(gpt2_like(), half), 12, 64, greedy());
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("PYTORCH_ALLOC_CONF", "expandable_segments:False", 1);  // those are the driver's
  model::configure_threads(1);
  if (!model::cuda_ready()) {
    std::fputs("torch sees no GPU\n", stderr);
    return 1;
  }
  const std::string what = argc > 1 ? argv[1] : "";
  prints_kernels = what == "--kernels";
  if (what != "--times") {
    print_launches();
  }
  if (!prints_kernels) {
    print_times();
  }
}
