#include <cmath>
#include <map>

#include "base/Error.hpp"
#include "findings/AgreementFile.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"

namespace stereosweep::probes::contexts {
namespace {

using Kind = EmbeddingTest::Kind;

}  // namespace

std::optional<findings::PairAgreement> compute_agreement(const ContextsResult& result, const ContextsOptions& options) {
  findings::PairAgreement agreement;
  agreement.shuffles = {.seed = options.seed, .num_threads = options.num_threads};
  auto& scores = agreement.scores;
  auto& axes = scores.axes;
  axes.measures = {"ceat_mean", "ceat_combined"};
  axes.priors = {"none"};
  std::map<std::string, std::size_t> place_of_group;
  std::vector<const TestSummary*> pairs;
  for (std::size_t test = 0; test < result.tests.size(); ++test) {
    if (result.tests[test].kind != Kind::wefat) {
      continue;
    }
    axes.pairs.push_back(result.tests[test].label);
    pairs.push_back(&result.summaries[test]);
    for (const auto& word : pairs.back()->words) {
      if (place_of_group.try_emplace(word.word, axes.groups.size()).second) {
        axes.groups.push_back(word.word);
      }
    }
  }
  if (axes.groups.empty()) {
    if (options.ratings) {
      throw base::InputError(base::describe("human ratings cannot be used", "no WEFAT test has words with an effect",
                                            "rated groups are words of tests without y, such as {groups, traits}"));
    }
    return std::nullopt;
  }
  scores.overall.resize(axes.measures.size() * axes.groups.size() * axes.pairs.size());
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    for (const auto& word : pairs[pair]->words) {
      for (std::size_t measure = 0; measure < axes.measures.size(); ++measure) {
        const double score = measure == 0 ? word.effect.mean : word.combined.effect;
        if (std::isfinite(score)) {
          scores.overall[scores.overall_index(measure, 0, place_of_group.at(word.word), pair)].add(score);
        }
      }
    }
  }
  if (options.ratings) {
    agreement.ratings = findings::match_ratings(*options.ratings, axes);
    agreement.alignments = findings::align_all(scores, *agreement.ratings, agreement.shuffles);
  }
  return agreement;
}

void write_contexts_agreement(results::Layout& layout, const findings::PairAgreement& agreement,
                              const std::vector<ContextsTest>& tests) {
  const auto& axes = agreement.scores.axes;
  const std::vector<std::string> descriptions = {"mean over samples of the word's effect size",
                                                 "combined effect size of the word (random effects)"};
  layout.add_axis({"variant", "variant of the score", axes.measures, {{"description", "definition", descriptions}}});
  layout.add_axis({"prior", "no prior: effects are differences of cosines", axes.priors, {}});
  layout.add_axis({"group", "target word of the WEFAT tests", axes.groups, {}});
  results::AxisSchema pairs{"pair", "WEFAT test; a score above 0 is nearer to A, the right pole", axes.pairs, {}};
  pairs.coordinates = {{"dimension", "title of the test", {}}, {"left", "B", {}}, {"right", "A", {}}};
  for (const auto& test : tests) {
    if (test.kind == Kind::wefat) {
      pairs.coordinates[0].values.push_back(test.title);
      pairs.coordinates[1].values.push_back(test.sets[3]);
      pairs.coordinates[2].values.push_back(test.sets[2]);
    }
  }
  layout.add_axis(pairs);
  findings::write_pair_agreement(layout, agreement, "1");
}

}  // namespace stereosweep::probes::contexts
