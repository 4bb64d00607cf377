// False alarms of the p that `stats` prints first, where nothing is associated with anything: bench_calibration [SETS]
// Every data set is a test of 8 and 8 target words with 8 and 8 attribute words, all with random vectors: one vector
// each (WEAT, and WEFAT of four words), or 30 contexts each, of which 100 samples are drawn (CEAT). The effects come
// from the stage that computes them, go through a result file, and are tested as `stats` does. Prints the share of p
// below 0.05; exit status 1 where 0.05 lies outside of the 99.9 % interval of a share.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EffectsProbe.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"
#include "results/Export.hpp"
#include "stats/Summary.hpp"
#include "support/TemporaryDirectory.hpp"

namespace {

using namespace stereosweep;
using Kind = probes::contexts::EmbeddingTest::Kind;

constexpr std::uint64_t dimension = 30;
constexpr std::size_t set_size = 8;
constexpr std::size_t sets_per_file = 100;
constexpr double nominal = 0.05;

struct Design {
  const char* name;
  Kind kind;
  std::size_t num_x;
  std::uint64_t contexts;  ///< 1: static vectors
};
constexpr std::array<Design, 4> designs = {{{"WEAT", Kind::weat, set_size, 1},
                                            {"WEFAT, each word", Kind::wefat, 4, 1},
                                            {"CEAT", Kind::weat, set_size, 30},
                                            {"CEAT, each word of a WEFAT", Kind::wefat, 4, 30}}};

std::vector<std::string> words(const std::string& stem, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(stem + std::to_string(i));
  }
  return names;
}

sweep::Job job_of(const Design& design, std::size_t first, std::size_t last) {
  probes::contexts::Contexts settings;
  if (design.contexts == 1) {
    settings.vectors = corpus::StaticVectors{};
  }
  settings.samples = 100;
  for (auto set = first; set < last; ++set) {
    const auto label = std::to_string(set);
    settings.tests.push_back({label,
                              "",
                              design.kind,
                              {"x", words(label + "x", design.num_x)},
                              {"y", words(label + "y", design.kind == Kind::weat ? set_size : 0)},
                              {"a", words(label + "a", set_size)},
                              {"b", words(label + "b", set_size)}});
  }
  sweep::Job job;
  job.seed = 1;
  job.probe = settings;
  return job;
}

/// A word's contexts scatter around a vector of its own.
std::vector<probes::contexts::WordVectors> make_store(const std::filesystem::path& file, const sweep::Job& job,
                                                      std::uint64_t contexts, std::mt19937_64& random) {
  std::vector<probes::contexts::WordVectors> names;
  for (const auto& word : probes::contexts::list_words(job.settings<probes::contexts::Contexts>().tests)) {
    names.push_back({word, contexts, contexts, 0, {}});
  }
  probes::contexts::VectorStoreWriter writer(file, names, dimension);
  std::normal_distribution<float> normal;
  std::vector<float> own(dimension);
  std::vector<float> vector(dimension);
  for (std::uint64_t word = 0; word < names.size(); ++word) {
    for (auto& value : own) {
      value = normal(random);
    }
    for (std::uint64_t context = 0; context < contexts; ++context) {
      for (std::size_t i = 0; i < dimension; ++i) {
        vector[i] = own[i] + (contexts > 1 ? normal(random) : 0);
      }
      writer.add(word, vector);
    }
  }
  return writer.finish();
}

probes::contexts::ContextsResult statistics(const std::filesystem::path& folder, const sweep::Job& job,
                                            const std::vector<probes::contexts::WordVectors>& names) {
  const probes::contexts::EffectsProbe effects(
      job, names, std::make_shared<probes::contexts::VectorStore>(folder / "vectors", names, dimension));
  const auto file = folder / "contexts.h5";
  results::export_run({"calibration",
                       "contexts",
                       &effects.schema(),
                       &effects.blocks(),
                       [&](const sweep::Block& block) { return std::optional(effects.fold(block, {})); },
                       {{"created", "2026-11-22T00:00:00Z"}},
                       {}},
                      file);
  probes::contexts::ContextsOptions options;
  options.settings.draws = 1000;  // of max-T alone: 16 words are counted
  return probes::contexts::compute_contexts(results::ResultFile(file), options);
}

struct Alarms {
  std::uint64_t tests = 0;
  std::uint64_t one_sided = 0;
  std::uint64_t two_sided = 0;

  void add(const probes::contexts::PermutationSummary& permutation) {
    ++tests;
    one_sided += permutation.p < nominal ? 1 : 0;
    two_sided += permutation.two_sided < nominal ? 1 : 0;
  }
};

bool print(const char* name, const char* side, std::uint64_t alarms, std::uint64_t tests) {
  const auto interval = stats::fixed_draws_interval(alarms, tests, 0.999);
  std::printf("%-28s %-10s %6llu  %6.2f %%\n", name, side, static_cast<unsigned long long>(tests),
              100.0 * static_cast<double>(alarms) / static_cast<double>(tests));
  return interval.low <= nominal && nominal <= interval.high;
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t num_sets = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 2000;
  const testing::TemporaryDirectory folder;
  std::mt19937_64 random(20261122);
  bool as_stated = num_sets > 0;
  std::printf("%-28s %-10s %6s  share below %.2f\n", "", "p", "tests", nominal);
  for (const auto& design : designs) {
    Alarms alarms;
    std::uint64_t families = 0;  // of words: a p adjusted by max-T, two-sided
    for (std::size_t first = 0; first < num_sets; first += sets_per_file) {
      const auto job = job_of(design, first, std::min(num_sets, first + sets_per_file));
      const auto names = make_store(folder / "vectors", job, design.contexts, random);
      for (const auto& summary : statistics(folder.path(), job, names).summaries) {
        if (design.kind == Kind::weat) {
          alarms.add(summary.permutation);
        }
        bool any = false;
        for (const auto& word : summary.words) {
          alarms.add(word.permutation);
          any = any || word.permutation.adjusted_two_sided[3] < nominal;
        }
        families += any ? 1 : 0;
      }
    }
    as_stated = print(design.name, "one-sided", alarms.one_sided, alarms.tests) && as_stated;
    as_stated = print(design.name, "two-sided", alarms.two_sided, alarms.tests) && as_stated;
    if (design.kind == Kind::wefat) {
      as_stated = print(design.name, "any, max-T", families, num_sets) && as_stated;
    }
  }
  return as_stated ? 0 : 1;
}
