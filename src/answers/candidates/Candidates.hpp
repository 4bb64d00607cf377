// What in a part of an answer may be a rating. For RatingParser.cpp and its tests.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "answers/Rating.hpp"
#include "answers/refusal/Refusal.hpp"
#include "answers/text/PlainText.hpp"

namespace stereosweep::answers {

/// How sure it is that a number or an option is meant as the answer.
enum class Strength : std::uint8_t {
  supposed,  ///< what others would say, an example
  bare,
  cued,  ///< "I rate them 4", "Answer: 4", "4"
  final  ///< "Overall, 4"
};

struct Candidate {
  std::size_t token = 0;
  std::size_t last = 0;  ///< behind its last token
  double low = 0;        ///< the value, or the lower end of a range
  double high = 0;       ///< the same as low: no range
  Strength strength = Strength::bare;
  bool is_off_scale = false;
};

/// In the order of the text. Left out: what restates the scale, counts or dates something, marks a list, is denied
/// ("not a 5"), or stands in a clause that refuses. Of an unknown language only what every
/// language writes so: a number alone, behind a label, of the scale ("4/5", "4 sur 5").
std::vector<Candidate> number_candidates(std::span<const Token> tokens, const Scale& scale, Language language);
std::vector<Candidate> option_candidates(std::span<const Token> tokens, const Scale& scale);

/// The sentence around a token: [first, last).
struct Sentence {
  std::size_t first;
  std::size_t last;
};
Sentence sentence_around(std::span<const Token> tokens, std::size_t place);

/// What the words around a place say of it.
class Surroundings : TokenReader {
 public:
  explicit Surroundings(std::span<const Token> tokens);
  /// "not a", "rather than", "at least", "would not say", "is too strong": the words around [first, last) deny or bound
  /// it, or its box is not ticked ("[ ]").
  bool deny(std::size_t first, std::size_t last) const;
  /// "I cannot give a 4", "a 4 would be a judgment, so I decline".
  bool refuse(std::size_t place) const;
  /// Behind the label of an explanation: "Reason: ...".
  bool explain(std::size_t place) const { return is_explanation_[place]; }
  /// Words before [first, last) in its sentence announce an answer ("rate", "score of"), a last one ("overall"), or it
  /// stands alone; less where somebody else would say so, or behind the label of an explanation ("Reason: ...").
  Strength strength(std::size_t first, std::size_t last) const;

 private:
  bool is_talked_of(std::size_t place) const;
  bool is_denied_at_once(std::size_t place) const;
  bool is_denied_in_clause(std::size_t place) const;
  bool is_denied_behind(std::size_t end) const;
  void find_explanations();

  std::vector<Refusal> refusals_;
  std::vector<bool> is_explanation_;  ///< of each token
};

}  // namespace stereosweep::answers
