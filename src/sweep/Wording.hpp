// The few rules of English that prompts need. Everything else, and all of other languages
// (config/language/LanguageTable.hpp), is declared with the group, the template and the rule.
#pragma once

#include <string>
#include <string_view>

#include "sweep/Axes.hpp"

namespace stereosweep::sweep {

/// "a" or "an" before `words`: by the first letter, with a short list of words that sound otherwise
/// ("university", "hour"); capitals are read letter by letter ("an LGBT person", "a US citizen"). A form that this gets
/// wrong declares its own article.
std::string indefinite_article(std::string_view words);
/// The article before `words` by the rule; "" where it says that nouns declare theirs.
std::string article_before(std::string_view words, const ArticleRule& rule);
/// With its first letter in upper case (European Latin, Vietnamese, Greek, Cyrillic); unchanged where it starts with
/// anything else.
std::string capitalise(std::string_view text);
/// True if a word put after `text` opens a sentence: nothing before it but quotes and brackets, or a full stop,
/// question or exclamation mark and a space, or an opening quote.
bool opens_sentence(std::string_view text);
/// The same for a word between two texts: quotes and brackets around this word alone open nothing (the "kind" people).
bool opens_sentence_at(std::string_view before, std::string_view after);
/// With its first word in lower case if that is an English function word ("The", "Most", "People"), which has its
/// capital only from its place; names, "I" and everything unknown stay as they are.
std::string lower_function_word(std::string_view text);

/// The template's text as it stands inside a wrapper, behind other words.
std::string text_inside(const Template& sentence);

}  // namespace stereosweep::sweep
