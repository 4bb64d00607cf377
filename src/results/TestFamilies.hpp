// p values adjusted for the number of tests in a declared family, and of words in a wefat test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/ContextsStatistics.hpp"

namespace stereosweep::results {

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
std::vector<FamilyInUse> families_in_use(const std::vector<ContextsTest>& tests,
                                         const std::vector<domain::TestFamily>& declared);

/// Adjusts the p values of the tests in every family of `result`, and those of the words of every wefat test.
/// `sides[test]`: of the test itself or of its words; nothing without a permutation p.
void adjust_tests(ContextsResult& result, const std::vector<std::vector<std::optional<Sides>>>& sides,
                  const ContextsOptions& options);

/// The family of every test of the result; null for wefat tests and those in none. Borrowed from `result`.
std::vector<const FamilyInUse*> family_of_tests(const ContextsResult& result);

}  // namespace stereosweep::results
