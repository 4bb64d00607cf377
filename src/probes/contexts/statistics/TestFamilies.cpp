#include "probes/contexts/statistics/TestFamilies.hpp"

#include <algorithm>
#include <cmath>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "stats/PValues.hpp"
#include "stats/permutation/FamilyPermutation.hpp"

namespace stereosweep::probes::contexts {
namespace {

using Kind = EmbeddingTest::Kind;
constexpr std::size_t num_step_adjustments = 3;  ///< those of a list of p values; the fourth is max-T

std::vector<double> adjusted_by(std::size_t method, const std::vector<double>& log10_p) {
  return stats::adjust_log10_p(log10_p, static_cast<stats::Adjustment>(method));
}

/// Tests about the same words share a pool, whatever their attributes.
std::uint32_t pool_of(const probes::contexts::ContextsTest& test) {
  return probes::contexts::draw_name(base::join(test.words[0], "\n") + "\n\n" + base::join(test.words[1], "\n"));
}

/// One of the permutation tests that are adjusted together.
struct Member {
  probes::contexts::PermutationSummary* permutation = nullptr;
  const Sides* sides = nullptr;  ///< null: without a p
  std::uint32_t pool = 0;
};

/// One of the two p of every member, adjusted by the four methods.
void adjust_side(const std::vector<Member>& members, stats::Tail tail,
                 const probes::contexts::ContextsOptions& options) {
  const bool upper = tail == stats::Tail::upper;
  const auto p_of = [&](const Member& member) { return upper ? member.permutation->p : member.permutation->two_sided; };
  std::vector<double> log10_p;
  std::vector<stats::FamilyTest> permuted;
  std::vector<std::size_t> places;  // of `permuted`
  for (std::size_t i = 0; i < members.size(); ++i) {
    log10_p.push_back(std::log10(p_of(members[i])));
    if (members[i].sides != nullptr && std::isfinite(log10_p.back())) {
      permuted.push_back({members[i].sides->x, members[i].sides->y, members[i].pool});
      places.push_back(i);
    }
  }
  const auto set = [&](std::size_t place, std::size_t method, double p) {
    const auto& member = members[place];
    auto& adjusted = upper ? member.permutation->adjusted : member.permutation->adjusted_two_sided;
    // never below the plain p: powers of ten round, and max-T counts draws where that p counts all partitions
    adjusted[method] = std::isnan(p) ? p : std::max(p, p_of(member));
  };
  for (std::size_t method = 0; method < num_step_adjustments; ++method) {
    const auto adjusted = adjusted_by(method, log10_p);
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

void adjust_together(const std::vector<Member>& members, const probes::contexts::ContextsOptions& options) {
  adjust_side(members, stats::Tail::upper, options);
  adjust_side(members, stats::Tail::both, options);
}

/// log10 of p of z, adjusted; `adjusted[i]` is written where `log10_p[i]` came from.
void adjust_z(const std::vector<double>& log10_p, const std::vector<probes::contexts::LogAdjusted*>& adjusted) {
  for (std::size_t method = 0; method < num_step_adjustments; ++method) {
    const auto values = adjusted_by(method, log10_p);
    for (std::size_t i = 0; i < values.size(); ++i) {
      adjusted[i]->values[method] = values[i];
    }
  }
}

}  // namespace

std::vector<probes::contexts::FamilyInUse> families_in_use(const std::vector<probes::contexts::ContextsTest>& tests,
                                                           const std::vector<probes::contexts::TestFamily>& declared) {
  std::map<std::string, std::size_t> weat;
  probes::contexts::FamilyInUse all{family_of_all, {}};
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (tests[i].kind == Kind::weat) {
      weat.emplace(tests[i].label, i);
      all.tests.push_back(i);
    }
  }
  if (declared.empty()) {
    return all.tests.empty() ? std::vector<probes::contexts::FamilyInUse>() : std::vector{all};
  }
  std::vector<probes::contexts::FamilyInUse> families;
  for (const auto& family : declared) {
    probes::contexts::FamilyInUse own{family.label, {}};
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

void adjust_tests(probes::contexts::ContextsResult& result, const std::vector<std::vector<std::optional<Sides>>>& sides,
                  const probes::contexts::ContextsOptions& options) {
  const auto sides_at = [&](std::size_t test, std::size_t effect) {
    return sides[test][effect] ? &*sides[test][effect] : nullptr;
  };
  for (const auto& family : result.families) {
    std::vector<Member> members;
    std::vector<double> log10_p;
    std::vector<probes::contexts::LogAdjusted*> adjusted;
    for (const auto test : family.tests) {
      auto& summary = result.summaries[test];
      members.push_back({&summary.permutation, sides_at(test, 0), pool_of(result.tests[test])});
      log10_p.push_back(summary.combined[result.chosen].log10_p_two_sided);
      adjusted.push_back(&summary.adjusted_log10_p);
    }
    adjust_together(members, options);
    adjust_z(log10_p, adjusted);
  }
  for (std::size_t test = 0; test < result.tests.size(); ++test) {
    auto& words = result.summaries[test].words;
    const auto pool = probes::contexts::draw_name(result.tests[test].label);
    std::vector<Member> members;
    std::vector<double> log10_p;
    std::vector<probes::contexts::LogAdjusted*> adjusted;
    for (std::size_t word = 0; word < words.size(); ++word) {
      members.push_back({&words[word].permutation, sides_at(test, word), pool});
      log10_p.push_back(words[word].combined.log10_p_two_sided);
      adjusted.push_back(&words[word].adjusted);
    }
    adjust_together(members, options);
    adjust_z(log10_p, adjusted);
  }
}

std::vector<const probes::contexts::FamilyInUse*> family_of_tests(const probes::contexts::ContextsResult& result) {
  std::vector<const probes::contexts::FamilyInUse*> families(result.tests.size(), nullptr);
  for (const auto& family : result.families) {
    for (const auto index : family.tests) {
      families[index] = &family;
    }
  }
  return families;
}

}  // namespace stereosweep::probes::contexts
