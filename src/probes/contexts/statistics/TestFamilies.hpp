// p values adjusted for the number of tests in a declared family, and of words in a wefat test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/contexts/statistics/ContextsStatistics.hpp"

namespace stereosweep::probes::contexts {

/// What the one family is called where none is declared.
constexpr const char* family_of_all = "all";

/// Scores of the words that are relabelled, one per word: target words of a weat test, attribute words of a word of a
/// wefat test. All finite, not all equal.
struct Sides {
  std::vector<double> x;
  std::vector<double> y;
};

/// The declared families, or one of all weat tests; none without weat tests. Throws InputError if a family names a test
/// that is not among `tests`, or one that another family has.
std::vector<probes::contexts::FamilyInUse> families_in_use(const std::vector<probes::contexts::ContextsTest>& tests,
                                                           const std::vector<probes::contexts::TestFamily>& declared);

/// Adjusts the p values of the tests in every family of `result`, and those of the words of every wefat test.
/// `sides[test]`: of the test itself or of its words; nothing without a permutation p.
void adjust_tests(probes::contexts::ContextsResult& result, const std::vector<std::vector<std::optional<Sides>>>& sides,
                  const probes::contexts::ContextsOptions& options);

/// The family of every test of the result; null for wefat tests and those in none. Borrowed from `result`.
std::vector<const probes::contexts::FamilyInUse*> family_of_tests(const probes::contexts::ContextsResult& result);

}  // namespace stereosweep::probes::contexts
