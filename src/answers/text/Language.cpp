#include <algorithm>

#include "answers/text/PlainText.hpp"

namespace stereosweep::answers {
namespace {

constexpr auto frequent_words = word_list<
    "the of and to in us is are was were be been it it's its this that these those they them their there i i'd i'm "
    "i'll we my you your our he his she her not no yes as at by for from with on or but if so then than very most "
    "many some would could should can will may might do does don't has have had people group groups rate rating "
    "score answer say think give because about who how which what when more less all also just only one other others "
    "out into up over such while reason a an somewhere around maybe scale overall seen final choice number points "
    "stars however cannot can't both low high media get gets three four five too well seem seems view like after "
    "even">;
/// Of those, what other languages have too: they tell nothing.
constexpr auto shared_words = word_list<"a as an at do i in is it me no on or so to we all he was die">;
/// Frequent in Spanish, Portuguese, French, Italian, German, Dutch, Polish and the Nordic languages.
constexpr auto foreign_words = word_list<
    "de la le les el los las que un una une en y es por con para del al der das und ist ich zu ein eine von mit "
    "nicht sehr il di che per non sono het een van dat niet o os um uma com et est dans sur pour je su ik zou og er "
    "och att det ett av na nie jest ze se si mais pero aber auf im dem den des wie como gli della eu ou mi mon ma "
    "più muy ils sie wir ces du au qui">;
constexpr auto endings = word_list<"ing ly ness ful">;

}  // namespace

bool is_frequent(const Token& word) {
  const auto ends = [&](std::string_view end) { return word.text.size() > end.size() + 2 && word.text.ends_with(end); };
  return base::contains(frequent_words, word.text) || std::ranges::any_of(endings, ends);
}

Language language_of(std::span<const Token> tokens) {
  constexpr std::size_t looked_at = 400;
  constexpr std::size_t few_words = 5;
  constexpr std::size_t many_words = 12;
  constexpr std::size_t full_text = 40;   // words
  constexpr std::size_t known_share = 8;  // of many words one in so many
  std::size_t num_words = 0;
  std::size_t num_known = 0;
  std::size_t num_foreign = 0;
  for (const auto& token : tokens.first(std::min(tokens.size(), looked_at))) {
    const bool tells = token.is_word() && !base::contains(shared_words, token.text);
    const bool is_beyond_ascii =
        std::ranges::any_of(token.text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    const bool is_known = is_frequent(token);
    num_words += tells ? 1 : 0;
    num_known += tells && is_known ? 1 : 0;
    num_foreign += tells && !is_known && (is_beyond_ascii || base::contains(foreign_words, token.text)) ? 1 : 0;
  }
  const bool is_unknown = num_foreign > num_known || (num_known == 0 && num_words >= few_words) ||
                          (num_words >= many_words && num_known * known_share < num_words) ||
                          (num_words >= full_text && num_known * 10 < num_words * 3);
  return is_unknown ? Language::unknown : Language::english;
}

}  // namespace stereosweep::answers
