// The rules that the sampling fields of a generate query obey.
#pragma once

#include "query/Query.hpp"

namespace stereosweep::query {

/// Jobs keep to them, too.
constexpr double least_repetition_penalty = 0.01;
constexpr double largest_repetition_penalty = 100;

/// A text whose `max_new_tokens` are those of its answer gets a thought before it: room for `limit.tokens` and the
/// closing text, of which no token is shorter than a byte. Throws InputError where max_new_tokens is negative or gets
/// too large.
void limit_thought(Generate& asked, ThoughtLimit limit);

/// Throws InputError naming the field that is out of its range, or not finite.
void check_sampling(const Generate& asked);

}  // namespace stereosweep::query
