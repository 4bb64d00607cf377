#include "results/TestFamilies.hpp"

#include <algorithm>
#include <cmath>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "probe/EmbeddingTests.hpp"
#include "stats/FamilyPermutation.hpp"
#include "stats/MultipleTests.hpp"

namespace stereosweep::results {
namespace {

using Kind = domain::EmbeddingTest::Kind;
constexpr std::size_t num_step_adjustments = 3;  ///< those of a list of p values; the fourth is max-T

std::vector<double> adjusted_by(std::size_t method, const std::vector<double>& log10_p) {
  return stats::adjust_log10_p(log10_p, static_cast<stats::Adjustment>(method));
}

/// Tests about the same words share a pool, whatever their attributes.
std::uint32_t pool_of(const ContextsTest& test) {
  return probe::draw_name(base::join(test.words[0], "\n") + "\n\n" + base::join(test.words[1], "\n"));
}

void adjust_family(ContextsResult& result, const FamilyInUse& family, const std::map<std::size_t, Sides>& sides,
                   const ContextsOptions& options) {
  std::vector<double> permutation_p;
  std::vector<double> two_sided;
  std::vector<stats::FamilyTest> permuted;
  std::vector<std::size_t> places;  // of `permuted`
  for (const auto index : family.tests) {
    const auto& summary = result.summaries[index];
    permutation_p.push_back(std::log10(summary.permutation.p));
    two_sided.push_back(summary.combined[result.chosen].log10_p_two_sided);
    if (const auto found = sides.find(index); found != sides.end()) {
      permuted.push_back({found->second.x, found->second.y, pool_of(result.tests[index])});
      places.push_back(index);
    }
  }
  for (std::size_t method = 0; method < num_step_adjustments; ++method) {
    const auto permutation = adjusted_by(method, permutation_p);
    const auto combined = adjusted_by(method, two_sided);
    for (std::size_t i = 0; i < family.tests.size(); ++i) {
      result.summaries[family.tests[i]].permutation.adjusted[method] = std::pow(10, permutation[i]);
      result.summaries[family.tests[i]].adjusted_log10_p.values[method] = combined[i];
    }
  }
  const auto max_t =
      stats::max_t_p(permuted, {options.seed, static_cast<std::uint64_t>(options.settings.draws), options.num_threads});
  for (std::size_t i = 0; i < places.size(); ++i) {
    result.summaries[places[i]].permutation.adjusted[num_step_adjustments] = max_t[i];
  }
}

void adjust_words(std::vector<WordSummary>& words) {
  std::vector<double> two_sided;
  for (const auto& word : words) {
    two_sided.push_back(word.combined.log10_p_two_sided);
  }
  for (std::size_t method = 0; method < num_step_adjustments; ++method) {
    const auto adjusted = adjusted_by(method, two_sided);
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i].adjusted.values[method] = adjusted[i];
    }
  }
}

}  // namespace

std::vector<FamilyInUse> families_in_use(const std::vector<ContextsTest>& tests,
                                         const std::vector<domain::TestFamily>& declared) {
  std::map<std::string, std::size_t> weat;
  FamilyInUse all{family_of_all, {}};
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (tests[i].kind == Kind::weat) {
      weat.emplace(tests[i].label, i);
      all.tests.push_back(i);
    }
  }
  if (declared.empty()) {
    return all.tests.empty() ? std::vector<FamilyInUse>() : std::vector{all};
  }
  std::vector<FamilyInUse> families;
  for (const auto& family : declared) {
    FamilyInUse own{family.label, {}};
    for (const auto& label : family.tests) {
      const auto found = weat.find(label);
      if (found == weat.end()) {
        throw base::InputError(
            base::describe("the family '" + family.label + "' names a test that the result does not have",
                           "no weat test is called '" + label + "', or two families name it"));
      }
      own.tests.push_back(found->second);
      weat.erase(found);
    }
    std::sort(own.tests.begin(), own.tests.end());
    families.push_back(std::move(own));
  }
  return families;
}

void adjust_tests(ContextsResult& result, const std::map<std::size_t, Sides>& sides, const ContextsOptions& options) {
  for (const auto& family : result.families) {
    adjust_family(result, family, sides, options);
  }
  for (auto& summary : result.summaries) {
    adjust_words(summary.words);
  }
}

std::vector<const FamilyInUse*> family_of_tests(const ContextsResult& result) {
  std::vector<const FamilyInUse*> families(result.tests.size(), nullptr);
  for (const auto& family : result.families) {
    for (const auto index : family.tests) {
      families[index] = &family;
    }
  }
  return families;
}

}  // namespace stereosweep::results
