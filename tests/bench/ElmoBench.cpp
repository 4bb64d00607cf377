// How fast ELMo's layers run beside the processor's matrix product: words per second and share of the peak.
//   ElmoBench DIR [words per batch [words per sentence]]      (default: 1,024 and 20)
// One thread, all layers, sentences of drawn words (Zipf), of up to twice the mean length. Credited are the products of
// the LSTMs for every word and mark, and the highway layers and the projection for every distinct word of a batch.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/files/File.hpp"
#include "bench/MatmulPeak.hpp"
#include "model/elmo/ElmoCheckpoint.hpp"
#include "model/elmo/ElmoModel.hpp"
#include "model/kernels/Kernels.hpp"

namespace {

using namespace stereosweep;

struct Drawn {
  std::vector<std::string> words;       // distinct
  std::vector<std::string_view> texts;  // of all sentences, one after the other
  std::vector<std::span<const std::string_view>> sentences;
};

void draw(Drawn& drawn, std::int64_t words, int mean) {
  std::mt19937 random(20220710);
  const auto vocabulary = 50000.0;
  drawn.words.reserve(static_cast<std::size_t>(vocabulary));  // texts lie there
  std::vector<std::int32_t> known(static_cast<std::size_t>(vocabulary), -1);
  std::vector<std::size_t> lengths;
  while (std::ssize(drawn.texts) < words) {
    const auto length = std::uniform_int_distribution<std::int32_t>(1, 2 * mean - 1)(random);
    lengths.push_back(static_cast<std::size_t>(length));
    for (std::int32_t i = 0; i < length; ++i) {
      const auto rank = std::pow(vocabulary, std::uniform_real_distribution<>(0, 1)(random)) - 1;
      auto& number = known[static_cast<std::size_t>(rank)];
      if (number < 0) {
        number = static_cast<std::int32_t>(drawn.words.size());
        drawn.words.push_back("w" + std::to_string(random() % 10000000).substr(0, 3 + random() % 5) + "n" +
                              std::to_string(drawn.words.size()));
      }
      drawn.texts.push_back(drawn.words[static_cast<std::size_t>(number)]);
    }
  }
  std::sort(lengths.rbegin(), lengths.rend());
  for (std::span<const std::string_view> left = drawn.texts; const auto length : lengths) {
    drawn.sentences.push_back(left.first(length));
    left = left.subspan(length);
  }
}

double operations(const model::ElmoOptions& options, const Drawn& drawn) {
  const auto tokens = static_cast<double>(drawn.texts.size() + 2 * drawn.sentences.size());
  const auto filters = static_cast<double>(options.num_filters());
  const auto width = static_cast<double>(options.projection);
  const auto cells = static_cast<double>(options.cell);
  const double token = 2 * static_cast<double>(options.num_layers) * (2 * width * 4 * cells + cells * width);
  const double word = static_cast<double>(options.num_highways) * 2 * filters * filters + filters * width;
  return 2 * (tokens * token + static_cast<double>(drawn.words.size()) * word);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: ElmoBench DIR [words per batch [words per sentence]]\n");
    return 2;
  }
  const auto words = count > 2 ? std::atoll(arguments[2]) : 1024;
  const auto mean = count > 3 ? std::atoi(arguments[3]) : 20;
  model::configure_threads(1);
  const auto files = base::read_checkpoint_files(arguments[1], base::CheckpointPart::all_files);
  const auto options = model::read_elmo_options(files);
  Drawn drawn;
  draw(drawn, words, mean);
  std::vector<std::int64_t> tokens(drawn.texts.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  std::printf("%zu words, %zu distinct, %zu sentences\n", tokens.size(), drawn.words.size(), drawn.sentences.size());
  for (const auto dtype : {query::Dtype::float32, query::Dtype::bfloat16}) {
    const bool half = dtype == query::Dtype::bfloat16;
    const auto elmo = model::ElmoModel::load(files, dtype, query::Device::cpu);
    const auto limit = 1e9 * bench::matmul_peak(half ? at::kBFloat16 : at::kFloat);
    const auto seconds = bench::best_seconds([&] { elmo->hidden(drawn.sentences, elmo->num_layers(), tokens); }, 5);
    const auto rate = operations(options, drawn) / seconds;
    std::printf("%s: %.0f words/s, %.1f of %.1f GFLOP/s = %.0f %%\n", half ? "bfloat16" : "float32",
                static_cast<double>(tokens.size()) / seconds, 1e-9 * rate, 1e-9 * limit, 100 * rate / limit);
  }
  return 0;
}
