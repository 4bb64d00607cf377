// The generated tables (tests/corpus/make_character_tables.py): facts of the Unicode Character Database.
#pragma once

#include <span>

namespace stereosweep::corpus::tables {

/// Pairs of first and last code point, ascending: letters, marks and decimal digits; White_Space.
extern const std::span<const char32_t> word_ranges, white_space_ranges;
/// Simple case folding, ascending, in fours: first, last, step, target of the first (the others keep its distance).
extern const std::span<const char32_t> folding_runs;

}  // namespace stereosweep::corpus::tables
