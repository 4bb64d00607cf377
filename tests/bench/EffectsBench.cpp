// Processor seconds of stage `effects` on one thread, vectors in memory: bench_effects SPECIFICATION.json
//   {"raw": FILE of float32 [word, context, dimension], "store": FILE to make, "dimension", "contexts", "samples",
//   "seed",
//    "shown": how many effect sizes of each test are printed, "tests": [{"label", "x", "y", "a", "b": lists of words}]}
// Prints {"cpu": s, "effects": {label: [...]}}.
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EffectsProbe.hpp"

namespace {

using namespace stereosweep;

sweep::Job job_of(const base::Json& asked) {
  probes::contexts::Contexts settings;
  settings.vectors = probes::contexts::ContextualVectors{};
  settings.samples = asked.at("samples").get<std::int64_t>();
  for (const auto& test : asked.at("tests")) {
    const auto set = [&](const char* name) {
      return probes::contexts::WordSet{name, test.at(name).get<std::vector<std::string>>()};
    };
    settings.tests.push_back({test.at("label").get<std::string>(), "", probes::contexts::EmbeddingTest::Kind::weat,
                              set("x"), set("y"), set("a"), set("b")});
  }
  sweep::Job job;
  job.seed = asked.at("seed").get<std::uint64_t>();
  job.probe = settings;
  return job;
}

std::vector<probes::contexts::WordVectors> make_store(const base::Json& asked, const sweep::Job& job) {
  const auto dimension = asked.at("dimension").get<std::uint64_t>();
  const auto contexts = asked.at("contexts").get<std::uint64_t>();
  std::vector<probes::contexts::WordVectors> words;
  for (const auto& word : probes::contexts::list_words(job.settings<probes::contexts::Contexts>().tests)) {
    words.push_back({word, contexts, contexts, 0, {}});
  }
  const auto raw = base::open_file(asked.at("raw").get<std::string>()).mapped();
  const auto* numbers = reinterpret_cast<const float*>(raw.bytes().data());
  const auto give = [&](const probes::contexts::AddVector& add) {
    for (std::uint64_t row = 0; row < words.size() * contexts; ++row) {
      add(row / contexts, {numbers + row * dimension, dimension});
    }
  };
  return probes::contexts::write_vectors(asked.at("store").get<std::string>(), words, dimension, give);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "bench_effects SPECIFICATION.json\n";
    return 2;
  }
  const auto asked = base::parse_json(base::read_file(arguments[1]), arguments[1]);
  const auto job = job_of(asked);
  const auto words = make_store(asked, job);
  const auto store = std::make_shared<probes::contexts::VectorStore>(asked.at("store").get<std::string>(), words,
                                                                     asked.at("dimension").get<std::uint64_t>());
  double lengths = 0;  // what brings the file into memory
  for (std::uint64_t word = 0; word < words.size(); ++word) {
    for (std::uint64_t context = 0; context < store->count(word); ++context) {
      const std::span row(store->row(word, context), store->dimension());
      lengths = std::accumulate(row.begin(), row.end(), lengths + store->inverse_length(word, context));
    }
  }
  const probes::contexts::EffectsProbe effects(job, words, store);
  const auto shown = asked.at("shown").get<std::size_t>();
  base::Json result = {{"sum", lengths}};
  const auto start = std::clock();
  for (std::uint64_t index = 0; index < effects.blocks().num_blocks(); ++index) {
    const auto block = effects.blocks().block(index);
    const auto raw = effects.fold(block, {});
    const auto at = effects.blocks().product().coordinates(block.first_context);
    auto& list = result["effects"][effects.tests()[at[0]].test.label];
    for (const double value : std::get<std::vector<double>>(raw.columns[1])) {
      if (list.size() < shown) {
        list.push_back(value);
      }
    }
  }
  result["cpu"] = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::cout << result.dump() << '\n';
  return 0;
}
