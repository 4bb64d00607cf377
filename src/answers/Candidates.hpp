// What in a part of an answer may be a rating. For RatingParser.cpp and its tests.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "answers/PlainText.hpp"
#include "answers/Rating.hpp"

namespace stereosweep::answers {

/// How sure it is that a number or an option is meant as the answer.
enum class Strength : std::uint8_t { bare, cued, final };

struct Candidate {
  std::size_t token = 0;
  double low = 0;   ///< the value, or the lower end of a range
  double high = 0;  ///< the same as low: no range
  Strength strength = Strength::bare;
  bool is_off_scale = false;
};

/// In the order of the text. Left out: what restates the scale, counts or dates something, marks a list, is denied
/// ("not a 5"), or stands in a clause that refuses.
std::vector<Candidate> number_candidates(std::span<const Token> tokens, const Scale& scale);
std::vector<Candidate> option_candidates(std::span<const Token> tokens, const Scale& scale);

/// Helpers of both.

/// The sentence around a token: [first, last).
struct Sentence {
  std::size_t first;
  std::size_t last;
};
Sentence sentence_around(std::span<const Token> tokens, std::size_t place);
/// "not a", "rather than", "at least": what stands before `place` denies or bounds it.
bool is_denied(std::span<const Token> tokens, std::size_t place);
/// A clause before `place`, in its sentence, refuses: "I cannot give a 4".
bool is_refused_clause(std::span<const Token> tokens, std::size_t place);
/// Words before `place` in its sentence announce an answer ("rate", "score of"), a last one ("overall"), or it stands
/// alone.
Strength strength_of(std::span<const Token> tokens, std::size_t first, std::size_t last);

}  // namespace stereosweep::answers
