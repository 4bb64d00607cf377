#include <algorithm>
#include <cmath>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"
#include "stats/PValues.hpp"
#include "stats/permutation/FamilyPermutation.hpp"

namespace stereosweep::probes::contexts {
namespace {

using Kind = EmbeddingTest::Kind;

/// Tests about the same words share a pool, whatever their attributes.
std::uint32_t pool_of(const ContextsTest& test) {
  return draw_name(base::join(test.words[0], "\n") + "\n\n" + base::join(test.words[1], "\n"));
}

/// One of the effects that are adjusted together.
struct Member {
  EffectSummary* effect = nullptr;
  const std::optional<Sides>* sides = nullptr;  ///< nothing: without a p
  std::uint32_t pool = 0;
};

/// One of the two p of every member, adjusted by the four methods.
void adjust_side(const std::vector<Member>& members, stats::Tail tail, const ContextsOptions& options) {
  const bool upper = tail == stats::Tail::upper;
  const auto p_of = [&](const Member& member) {
    return upper ? member.effect->permutation.p : member.effect->permutation.two_sided;
  };
  std::vector<double> log10_p;
  std::vector<stats::FamilyTest> permuted;
  std::vector<std::size_t> places;  // of `permuted`
  for (std::size_t i = 0; i < members.size(); ++i) {
    log10_p.push_back(std::log10(p_of(members[i])));
    if (*members[i].sides && std::isfinite(log10_p.back())) {
      permuted.push_back({(*members[i].sides)->x, (*members[i].sides)->y, members[i].pool});
      places.push_back(i);
    }
  }
  const auto set = [&](std::size_t place, std::size_t method, double p) {
    auto& permutation = members[place].effect->permutation;
    auto& adjusted = upper ? permutation.adjusted : permutation.adjusted_two_sided;
    // never below the plain p: powers of ten round, and max-T counts draws where that p counts all partitions
    adjusted[method] = std::isnan(p) ? p : std::max(p, p_of(members[place]));
  };
  for (std::size_t method = 0; method < num_step_adjustments; ++method) {
    const auto adjusted = stats::adjust_log10_p(log10_p, static_cast<stats::Adjustment>(method));
    for (std::size_t i = 0; i < members.size(); ++i) {
      set(i, method, std::pow(10, adjusted[i]));
    }
  }
  if (places.size() == 1) {  // alone: nothing to adjust for
    set(places.front(), num_step_adjustments, p_of(members[places.front()]));
    return;
  }
  const auto max_t = stats::max_t_p(permuted, {.seed = options.seed,
                                               .draws = static_cast<std::uint64_t>(options.settings.draws),
                                               .num_threads = options.num_threads,
                                               .tail = tail});
  for (std::size_t i = 0; i < places.size(); ++i) {
    set(places[i], num_step_adjustments, max_t[i]);
  }
}

/// Both p of relabelling, and the p of z.
void adjust_together(const std::vector<Member>& members, const ContextsOptions& options) {
  adjust_side(members, stats::Tail::upper, options);
  adjust_side(members, stats::Tail::both, options);
  std::vector<double> log10_p;
  for (const auto& member : members) {
    log10_p.push_back(member.effect->combined.log10_p_two_sided);
  }
  for (std::size_t method = 0; method < num_step_adjustments; ++method) {
    const auto adjusted = stats::adjust_log10_p(log10_p, static_cast<stats::Adjustment>(method));
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i].effect->adjusted_log10_p[method] = adjusted[i];
    }
  }
}

}  // namespace

std::vector<FamilyInUse> families_in_use(const std::vector<ContextsTest>& tests,
                                         const std::vector<TestFamily>& declared) {
  std::map<std::string, std::size_t> weat;
  FamilyInUse all{"all", {}};
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

void adjust_tests(ContextsResult& result, const std::vector<std::vector<std::optional<Sides>>>& sides,
                  const ContextsOptions& options) {
  for (const auto& family : result.families) {
    std::vector<Member> members;
    for (const auto test : family.tests) {
      members.push_back({&result.summaries[test], &sides[test].front(), pool_of(result.tests[test])});
    }
    adjust_together(members, options);
  }
  for (std::size_t test = 0; test < result.tests.size(); ++test) {
    std::vector<Member> members;
    auto& words = result.summaries[test].words;
    for (std::size_t word = 0; word < words.size(); ++word) {
      members.push_back({&words[word], &sides[test][word], draw_name(result.tests[test].label)});
    }
    adjust_together(members, options);
  }
}

}  // namespace stereosweep::probes::contexts
