// False alarms of the p that `stats` prints first, where X is no nearer to A than Y is, and how often the interval of d
// holds the expected d, also where X is nearer: bench_calibration [SETS]
// Every data set is a test of 8 and 8 target words with 8 and 8 attribute words (in some designs 25, by random
// relabelling): one vector each (WEAT, and WEFAT of four words), or 30 contexts each, of which 100 samples are drawn
// (CEAT). Vectors are random; in designs with topics the words of each set share one, too. Where all four sets have
// topics, those of A and B lie across the line from X's topic to Y's, and are as long: neither is nearer to X. (Topics
// drawn freely would be associated in truth.) The effects come from the stage that computes them, go through a result
// file, and are tested as `stats` does. Prints the shares of p <= 0.05 of relabelling target words, attribute words, of
// Student's t over both, and of the largest, which is cited, and the share of intervals that hold the mean d of all
// data sets; exit status 1 where the 99.9 % interval of a cited share lies above 0.05, or, of words of a WEFAT,
// anywhere beside it, where that of the intervals lies below 0.95, or where one passes the largest d.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EffectsProbe.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"
#include "results/Export.hpp"
#include "stats/Summary.hpp"
#include "stats/embedding/EffectSize.hpp"
#include "support/TemporaryDirectory.hpp"

namespace {

using namespace stereosweep;
using Kind = probes::contexts::EmbeddingTest::Kind;

constexpr std::uint64_t dimension = 30;
constexpr std::size_t sets_per_file = 100;
constexpr double nominal = 0.05;

struct Design {
  const char* name;
  Kind kind = Kind::weat;
  std::size_t size = 8;        ///< words of a set; of a WEFAT X has 4
  std::uint64_t contexts = 1;  ///< 1: static vectors
  bool target_topics = false;
  bool attribute_topics = false;
  /// The words of X lie where the attribute words differ most.
  bool unequal_spreads = false;
  /// How far the words of X lie towards the topic of A, and those of Y towards that of B.
  float pull = 0;
  std::size_t attributes = 0;  ///< words of A and of B; 0: as many as targets
  std::size_t num_attributes() const { return attributes == 0 ? size : attributes; }
};
constexpr std::array designs = {
    Design{.name = "WEAT, independent words"},
    Design{.name = "WEAT, topics of X, Y", .target_topics = true},
    Design{.name = "WEAT, topics of A, B", .attribute_topics = true},
    Design{.name = "WEAT, topics of both", .target_topics = true, .attribute_topics = true},
    Design{.name = "WEAT 25, topics of both", .size = 25, .target_topics = true, .attribute_topics = true},
    Design{.name = "WEAT 25 x 8, topics of both",
           .size = 25,
           .target_topics = true,
           .attribute_topics = true,
           .attributes = 8},
    Design{.name = "CEAT, topics of both", .contexts = 30, .target_topics = true, .attribute_topics = true},
    Design{.name = "WEAT, unequal spreads", .unequal_spreads = true},
    Design{.name = "WEAT 25, topics of X, Y", .size = 25, .target_topics = true},
    Design{.name = "CEAT, independent words", .contexts = 30},
    Design{.name = "CEAT, topics of X, Y", .contexts = 30, .target_topics = true},
    Design{.name = "WEAT, X somewhat near A", .attribute_topics = true, .pull = 0.1F},
    Design{.name = "WEAT, X at A", .attribute_topics = true, .pull = 3},
    Design{.name = "WEAT 3, X near A", .size = 3, .attribute_topics = true, .pull = 1},
    Design{.name = "CEAT, X near A", .contexts = 30, .attribute_topics = true, .pull = 1},
    Design{.name = "WEFAT, each word", .kind = Kind::wefat},
    Design{.name = "CEAT, each word of a WEFAT", .kind = Kind::wefat, .contexts = 30},
};
constexpr std::size_t num_wide = 5;  ///< dimensions in which attributes differ most, with unequal spreads

std::vector<std::string> words(const std::string& stem, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(stem + std::to_string(i));
  }
  return names;
}

sweep::Job job_of(const Design& design, std::size_t first, std::size_t last) {
  probes::contexts::Contexts settings;
  settings.samples = 100;
  if (design.contexts == 1) {
    settings.vectors = corpus::StaticVectors{};
    settings.samples = 1;
  }
  const bool is_weat = design.kind == Kind::weat;
  for (auto set = first; set < last; ++set) {
    const auto label = std::to_string(set);
    settings.tests.push_back({label,
                              "",
                              design.kind,
                              {"x", words(label + "x", is_weat ? design.size : 4)},
                              {"y", words(label + "y", is_weat ? design.size : 0)},
                              {"a", words(label + "a", design.num_attributes())},
                              {"b", words(label + "b", design.num_attributes())}});
  }
  sweep::Job job;
  job.seed = 1;
  job.probe = settings;
  return job;
}

/// Vectors of words, and of what the words of a set share.
class Vectors {
 public:
  Vectors(const Design& design, std::mt19937_64& random) : design_(design), random_(random) {}

  std::vector<float> drawn() {
    std::vector<float> vector(dimension);
    std::ranges::generate(vector, [&] { return normal_(random_); });
    return vector;
  }
  /// Of a word: "12x3".
  std::vector<float> own(const std::string& word) {
    const auto letter = word.find_first_not_of("0123456789");
    const auto set = word.substr(0, letter + 1);
    const bool is_target = word[letter] == 'x' || word[letter] == 'y';
    auto vector = drawn();
    if (is_target ? design_.target_topics : design_.attribute_topics) {
      std::ranges::transform(vector, topic_of(set), vector.begin(), std::plus());
    }
    if (is_target && design_.pull > 0) {
      const auto& towards = topic_of(set.substr(0, letter) + (word[letter] == 'x' ? "a" : "b"));
      std::ranges::transform(vector, towards, vector.begin(),
                             [&](float own, float topic) { return own + design_.pull * topic; });
    }
    for (std::size_t i = 0; design_.unequal_spreads && i < dimension; ++i) {
      vector[i] *= word[letter] == 'x' ? (i < num_wide ? 1.0F : 0.0F) : !is_target && i < num_wide ? 3.0F : 1.0F;
    }
    return vector;
  }

 private:
  /// `set`: "12x". Words of a set come before those of later sets.
  const std::vector<float>& topic_of(const std::string& set) {
    const auto [place, is_new] = topics_.try_emplace(set);
    if (is_new) {
      place->second = drawn();
      if (design_.target_topics && design_.attribute_topics) {
        const auto number = set.substr(0, set.size() - 1);
        const bool is_target = set.back() == 'x' || set.back() == 'y';
        place->second = across(place->second, is_target ? std::vector<float>(dimension, 0.0F)
                                                        : difference(topic_of(number + "x"), topic_of(number + "y")));
      }
    }
    return topics_.at(set);
  }

  static std::vector<float> difference(std::vector<float> left, const std::vector<float>& right) {
    std::ranges::transform(left, right, left.begin(), std::minus());
    return left;
  }

  /// Without its part along `line`, as long as a random vector is on average.
  static std::vector<float> across(std::vector<float> vector, const std::vector<float>& line) {
    const auto dot = [](const auto& left, const auto& right) {
      return std::inner_product(left.begin(), left.end(), right.begin(), 0.0F);
    };
    const float length = dot(line, line);
    const float share = length > 0 ? dot(vector, line) / length : 0;
    for (std::size_t i = 0; i < vector.size(); ++i) {
      vector[i] -= share * line[i];
    }
    const float scale = std::sqrt(static_cast<float>(dimension) / dot(vector, vector));
    std::ranges::for_each(vector, [&](float& value) { value *= scale; });
    return vector;
  }

  const Design& design_;
  std::mt19937_64& random_;
  std::normal_distribution<float> normal_;
  std::map<std::string, std::vector<float>> topics_;  ///< by set
};

/// A word's contexts scatter around a vector of its own.
std::vector<probes::contexts::WordVectors> make_store(const std::filesystem::path& file, const sweep::Job& job,
                                                      const Design& design, std::mt19937_64& random) {
  std::vector<probes::contexts::WordVectors> names;
  for (const auto& word : probes::contexts::list_words(job.settings<probes::contexts::Contexts>().tests)) {
    names.push_back({word, design.contexts, design.contexts, 0, {}});
  }
  Vectors vectors(design, random);
  return probes::contexts::write_vectors(file, names, dimension, [&](const probes::contexts::AddVector& add) {
    for (std::uint64_t word = 0; word < names.size(); ++word) {
      const auto own = vectors.own(names[word].word);
      for (std::uint64_t context = 0; context < design.contexts; ++context) {
        auto vector = own;
        if (design.contexts > 1) {
          std::ranges::transform(vector, vectors.drawn(), vector.begin(), std::plus());
        }
        add(word, vector);
      }
    }
  });
}

probes::contexts::ContextsResult statistics(const std::filesystem::path& folder, const sweep::Job& job,
                                            const std::vector<probes::contexts::WordVectors>& names,
                                            const Design& design) {
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
  options.settings.draws = 999;
  using Permutation = probes::contexts::EmbeddingStatistics::Permutation;
  options.settings.permutation = design.size > 8 ? Permutation::monte_carlo : Permutation::exact;
  for (const auto& test : job.settings<probes::contexts::Contexts>().tests) {  // data sets know nothing of one another
    options.settings.families.push_back({test.label, {test.label}});
  }
  return probes::contexts::compute_contexts(results::ResultFile(file), options);
}

struct Alarms {
  std::uint64_t tests = 0;
  std::uint64_t targets = 0;
  std::uint64_t attributes = 0;
  std::uint64_t both = 0;
  std::uint64_t cited = 0;
  std::uint64_t families = 0;  ///< data sets with an adjusted p, by Holm
  std::vector<double> effects;
  std::vector<stats::ProbabilityInterval> intervals;

  void add(const probes::contexts::EffectSummary& effect) {
    ++tests;
    targets += effect.targets.two_sided <= nominal ? 1 : 0;
    attributes += effect.attributes.two_sided <= nominal ? 1 : 0;
    both += effect.crossed.p <= nominal ? 1 : 0;
    cited += effect.cited <= nominal ? 1 : 0;
    effects.push_back(effect.combined.effect);
    intervals.push_back({effect.crossed.low, effect.crossed.high});
  }
  /// How many intervals hold the mean effect.
  std::uint64_t held() const {
    const double truth = stats::mean(effects).value;
    return static_cast<std::uint64_t>(std::ranges::count_if(
        intervals, [&](const auto& interval) { return interval.low <= truth && truth <= interval.high; }));
  }
  /// The end of an interval that is farthest from 0.
  double farthest() const {
    double farthest = 0;
    for (const auto& interval : intervals) {
      farthest = std::max({farthest, -interval.low, interval.high});
    }
    return farthest;
  }
};

bool print(const Design& design, const Alarms& alarms, std::uint64_t num_sets) {
  const auto percent = [](std::uint64_t part, std::uint64_t whole) {
    return 100 * static_cast<double>(part) / static_cast<double>(whole);
  };
  std::printf("%-28s %6llu", design.name, static_cast<unsigned long long>(alarms.tests));
  const auto cited = stats::fixed_draws_interval(alarms.cited, alarms.tests, 0.999);
  if (design.kind == Kind::weat) {
    const auto held = stats::fixed_draws_interval(alarms.held(), alarms.tests, 0.999);
    std::printf("  %8.2f  %10.2f  %6.2f  %6.2f  %8.2f  %6.3f\n", percent(alarms.targets, alarms.tests),
                percent(alarms.attributes, alarms.tests), percent(alarms.both, alarms.tests),
                percent(alarms.cited, alarms.tests), percent(alarms.held(), alarms.tests),
                stats::mean(alarms.effects).value);
    return (cited.low <= nominal || design.pull > 0) && held.high >= 1 - nominal &&
           alarms.farthest() <= stats::largest_effect_size(design.size, design.size) + 1e-12;
  }
  const auto families = stats::fixed_draws_interval(alarms.families, num_sets, 0.999);
  std::printf("  %8s  %10.2f  %6s  %6.2f  any, Holm %.2f\n", "", percent(alarms.attributes, alarms.tests), "",
              percent(alarms.cited, alarms.tests), percent(alarms.families, num_sets));
  return cited.low <= nominal && nominal <= cited.high && families.low <= nominal;
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t num_sets = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 2000;
  const testing::TemporaryDirectory folder;
  std::mt19937_64 random(20261122);
  bool as_stated = num_sets > 0;
  std::printf("%-28s %6s  %% of p <= %.2f: targets  attributes    both   cited      held  mean d\n", "", "tests",
              nominal);
  for (const auto& design : designs) {
    Alarms alarms;
    for (std::size_t first = 0; first < num_sets; first += sets_per_file) {
      const auto job = job_of(design, first, std::min(num_sets, first + sets_per_file));
      const auto names = make_store(folder / "vectors", job, design, random);
      for (const auto& summary : statistics(folder.path(), job, names, design).summaries) {
        if (design.kind == Kind::weat) {
          alarms.add(summary);
        }
        bool any = false;
        for (const auto& word : summary.words) {
          alarms.add(word);
          any = any || word.adjusted[0] <= nominal;
        }
        alarms.families += any ? 1 : 0;
      }
    }
    as_stated = print(design, alarms, num_sets) && as_stated;
  }
  return as_stated ? 0 : 1;
}
