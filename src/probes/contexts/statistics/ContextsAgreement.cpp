#include <cmath>
#include <map>

#include "base/Error.hpp"
#include "findings/AgreementFile.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/statistics/ContextsFile.hpp"

namespace stereosweep::probes::contexts {
namespace {

using Kind = EmbeddingTest::Kind;

const std::vector<std::string> measure_names = {"ceat_mean", "ceat_combined"};
const std::vector<std::string> measure_descriptions = {"mean over samples of the word's effect size",
                                                       "combined effect size of the word (random effects)"};

double score_of(const WordSummary& word, std::size_t measure) {
  return measure == 0 ? word.effect.mean : word.combined.effect;
}

}  // namespace

std::optional<findings::PairAgreement> compute_agreement(const std::vector<ContextsTest>& tests,
                                                         const std::vector<TestSummary>& summaries,
                                                         const std::optional<std::vector<findings::Rating>>& ratings,
                                                         const stats::ShuffleSettings& shuffles) {
  findings::PairAgreement agreement;
  agreement.shuffles = shuffles;
  auto& axes = agreement.scores.axes;
  axes.measures = measure_names;
  axes.priors = {"none"};
  std::map<std::string, std::size_t> place_of_group;
  for (std::size_t test = 0; test < tests.size(); ++test) {
    if (tests[test].kind != Kind::wefat) {
      continue;
    }
    axes.pairs.push_back(tests[test].label);
    for (const auto& word : summaries[test].words) {
      if (place_of_group.try_emplace(word.word, axes.groups.size()).second) {
        axes.groups.push_back(word.word);
      }
    }
  }
  if (axes.groups.empty()) {
    if (ratings) {
      throw base::InputError(base::describe("human ratings cannot be used", "no WEFAT test has words with an effect",
                                            "rated groups are words of tests without y, such as {groups, traits}"));
    }
    return std::nullopt;
  }
  auto& scores = agreement.scores;
  scores.overall.resize(axes.measures.size() * axes.groups.size() * axes.pairs.size());
  std::size_t pair = 0;
  for (std::size_t test = 0; test < tests.size(); ++test) {
    if (tests[test].kind != Kind::wefat) {
      continue;
    }
    for (const auto& word : summaries[test].words) {
      for (std::size_t measure = 0; measure < axes.measures.size(); ++measure) {
        if (const auto score = score_of(word, measure); std::isfinite(score)) {
          scores.overall[scores.overall_index(measure, 0, place_of_group.at(word.word), pair)].add(score);
        }
      }
    }
    ++pair;
  }
  if (ratings) {
    agreement.ratings = findings::match_ratings(*ratings, axes);
    agreement.alignments = findings::align_all(scores, *agreement.ratings, shuffles);
  }
  return agreement;
}

void write_contexts_agreement(results::Layout& layout, const findings::PairAgreement& agreement,
                              const std::vector<ContextsTest>& tests) {
  const auto& axes = agreement.scores.axes;
  layout.add_axis(
      {"variant", "variant of the score", axes.measures, {{"description", "definition", measure_descriptions}}});
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
