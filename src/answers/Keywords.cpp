#include "answers/Keywords.hpp"

#include <algorithm>
#include <ranges>
#include <set>

#include "answers/RatingParser.hpp"
#include "answers/refusal/Refusal.hpp"
#include "answers/text/PlainText.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::answers {
namespace {

using Parts = std::vector<std::string_view>;

constexpr std::size_t most_words = 4;   // of a keyword; more are a sentence
constexpr std::size_t most_listed = 5;  // of an entry with a mark

std::size_t count_words(std::string_view text) {
  const auto words = parts_between(text, " \t");
  return words.size() - static_cast<std::size_t>(std::ranges::count(words, std::string_view()));
}

/// Where an explanation begins: ":", "(", "[", "=", "->", ", " before a quotation mark or a dash with blanks around it.
std::size_t explanation(std::string_view text) {
  auto first = std::min(text.find_first_of(":(="), text.find('[', 1));
  for (const std::string_view dash : {" - ", " -- ", " -> ", "- ", " because ", " as in ", " come "}) {
    first = std::min(first, text.find(dash));
  }
  return std::min(text.starts_with('"') ? first : std::min(first, text.find(", \"")), text.size());
}

/// Where a keyword stands: marked as an entry it may have words that make a sentence elsewhere ("warm people").
enum class Entry : std::uint8_t { marked, plain };

/// A keyword without what does not belong to it; "" where nothing is left, or a sentence.
std::string clean(std::string_view text, Entry entry = Entry::plain) {
  static constexpr std::string_view leads[] = {"and ", "or ", "also ", "they are ", "they're ", "being ", "& "};
  static constexpr auto sentence_words = word_list<
      "they it it's i we you you're i'm is are was were have has there can but would could should however that's which "
      "where whose who">;
  static constexpr auto general_words =
      word_list<"people this that these those their many most some general example about something anything someone">;
  static constexpr auto openers =
      word_list<"with of from in as at both including if when while because often usually typically generally">;
  static constexpr std::string_view fillers[] = {"etc", "and so on", "so on", "and more", "among others", "e.g",
                                                 "i.e", "json",      "null",  "mostly",   "mainly"};
  constexpr std::size_t longest = 120;  // bytes
  text = base::trim(text.substr(0, explanation(text)));
  const auto quote = entry == Entry::marked || text.starts_with('"') ? text.find('"') : std::string_view::npos;
  const auto quoted_end = text.find('"', std::min(quote, text.size() - 1) + 1);
  if (quoted_end != std::string_view::npos && count_words(text.substr(0, quote)) < most_words) {
    text = text.substr(quote + 1, quoted_end - quote - 1);  // "kind", "the term 'kind'"
    entry = Entry::marked;
  }
  if (text.size() > longest) {
    return "";
  }
  auto word = base::lower_ascii(text);
  for (std::size_t before = word.size() + 1; word.size() < before;) {
    before = word.size();
    const auto lead = std::ranges::find_if(leads, [&](std::string_view one) { return word.starts_with(one); });
    word.erase(0, lead == std::end(leads) ? 0 : lead->size());
    while (!word.empty() && !is_letter(word.front())) {
      word.erase(0, 1);
    }
    while (!word.empty() && !is_letter(word.back())) {
      word.pop_back();
    }
  }
  const bool is_marked = entry == Entry::marked;
  const bool is_count = !is_marked && text.find_first_of("0123456789") == 0;
  const bool is_sentence =
      is_count || word.find_first_of("._{}<>\\\"") < word.size() ||
      count_words(word) > (is_marked ? most_listed : most_words) || has_word(word, sentence_words) ||
      (!is_marked && (has_word(word, general_words) || base::contains(openers, word.substr(0, word.find(' ')))));
  return is_sentence || base::contains(fillers, word) ? "" : word;
}

/// Introductions, headings and remarks, which are no keywords.
bool is_heading(std::string_view word) {
  static constexpr auto headings = word_list<
      "keywords keyword answer traits trait characteristics characteristic list note sure words word certainly "
      "adjectives adjective feelings feeling verbs verb emotions emotion okay ok yes positive negative neutral "
      "disclaimer attributes behaviors behaviours reason reasons absolutely remember descriptors stereotypes">;
  static constexpr std::string_view openings[] = {
      "here are",  "here is",    "here's",        "these are",      "i hope",        "let me",   "please ",
      "hope this", "in summary", "the following", "great question", "good question", "of course"};
  return base::contains(headings, word) ||
         std::ranges::any_of(openings, [&](std::string_view one) { return word.starts_with(one); });
}

/// The keyword that a part of a list is; "": it is none.
std::string keyword_of(std::string_view part, Entry entry) {
  auto word = clean(part, entry);
  const auto last = entry == Entry::plain ? word.rfind(' ') + 1 : 0;  // "top traits"
  return is_heading(std::string_view(word).substr(last)) || is_heading(word) ? "" : word;
}

/// Parts between commas, semicolons, strokes, hash signs and, at the end of a list, "and".
Parts parts_of(std::string_view list) {
  auto parts = parts_between(list, list.starts_with('[') ? ",;|[]/" : list.starts_with('#') ? ",;|/#" : ",;|/");
  std::erase(parts, std::string_view());
  if (parts.empty()) {
    return parts;
  }
  const auto last = parts.back();
  const auto joint = parts.size() > 1 || count_words(last) == 3 ? last.find(" and ") : std::string_view::npos;
  if (joint != std::string_view::npos && !last.starts_with("and ")) {
    parts.back() = last.substr(0, joint);
    parts.push_back(last.substr(joint + 5));
  }
  return parts;
}

/// What stands behind the last word of `text` that leads to a list ("are seen as ..."); all of it: there is none.
std::string_view behind_lead(std::string_view text) {
  static constexpr auto leads = word_list<
      "are is be as include includes including like being think_of terms_of use say feel choose list generally often "
      "typically called considered seem tend_to visualize imagine picture mention">;
  std::size_t behind = 0;
  for (const auto lead : leads) {
    const auto words = " " + base::replace_all(std::string(lead), "_", " ") + " ";
    const auto at = text.rfind(words);
    behind = std::max(behind, at == std::string_view::npos ? 0 : at + words.size());
  }
  return text.substr(behind);
}

/// Parts of "kind - warm - busy": two dashes or more and no other separator; empty: there is another one.
Parts dashed_parts(std::string_view text) {
  Parts parts;
  for (const auto part : text | std::views::split(std::string_view(" - "))) {
    parts.push_back(base::trim({part.begin(), part.end()}));
  }
  return parts.size() > 2 && text.find_first_of(",;|/") == std::string_view::npos ? parts : Parts{};
}

/// Whether a clause before a colon announces a list, and is no long one of something else.
bool announces(std::string_view clause, std::size_t few_words) {
  static constexpr auto last_words = word_list<"are be is as include includes following say mention use">;
  const auto lower = base::lower_ascii(clause);
  const auto words = parts_between(lower, " ");
  return words.size() <= few_words || base::contains(last_words, words.back()) ||
         std::ranges::any_of(words, is_heading);
}

/// A sentence as a list of keywords; empty: it is none.
Parts listed_in(std::string_view sentence) {
  const auto arrow = sentence.find("->");
  const auto colon = std::min(sentence.find(':'), arrow);
  if (colon != std::string_view::npos) {
    constexpr std::size_t few_words = 6;
    const auto clause = sentence.substr(0, colon).find_last_of(",;/#");  // "it varies, but common words are: ..."
    const bool opens = clause == std::string_view::npos;
    const auto most = opens ? few_words : few_words / 2;  // "OK, here goes: kind, warm"
    if (announces(sentence.substr(opens ? 0 : clause, colon - (opens ? 0 : clause)), most)) {
      sentence = base::trim(sentence.substr(colon + (colon == arrow ? 2 : 1)));
    } else if (opens) {
      return {};
    }
  }
  Parts parts;
  const auto dashed = dashed_parts(sentence);
  for (const auto part : dashed.empty() ? parts_of(sentence) : dashed) {
    const auto own = parts.empty() ? part : base::trim(part.substr(0, explanation(part)));
    const auto tail = base::trim(behind_lead(own));
    if (tail.size() < own.size() && parts.size() > 1) {
      const auto last = parts_of(parts.back());  // "as stern, strict and fair, with a role as ..."
      parts.pop_back();
      parts.insert(parts.end(), last.begin(), last.end());
      break;
    }
    if (tail.size() < own.size()) {
      parts.clear();
    }
    parts.push_back(tail.empty() ? part : tail);
  }
  const auto keywords = std::ranges::count_if(parts, [](std::string_view part) { return !clean(part).empty(); });
  const auto num_headings = std::ranges::count_if(parts, [](std::string_view part) { return is_heading(clean(part)); });
  const bool is_list = keywords > num_headings + 1 && 10 * keywords >= 7 * std::ssize(parts);
  return is_list ? parts : Parts{};
}

/// Of generalisations a sentence says so: "stereotypes are harmful, unfair and misleading".
constexpr std::string_view about_stereotypes[] = {"stereotypes are", "generalizations are", "stereotyping is",
                                                  "labels are",      "generalizing is",     "stereotypes can",
                                                  "reduced to"};
/// What repeats the question.
constexpr std::string_view wishes[] = {"per line", "nothing else", "separated by commas", "no explanation"};

/// A line of an answer: what stands behind its list mark.
struct AnswerLine {
  std::string_view text;
  std::size_t indent = 0;
  bool is_marked = false;
};

/// "a) warm", "Word 1: warm", beside the marks of every list.
std::string_view behind_mark(std::string_view line) {
  line = list_mark(line).rest;
  static constexpr auto labels = word_list<"keyword word trait adjective emotion feeling verb">;
  const auto sign = std::min(line.find_first_of(":.)"), line.size());
  const auto before = base::lower_ascii(line.substr(0, sign));
  const auto label = before.substr(0, before.find_last_not_of(" 0123456789") + 1);
  const bool is_numbered = label.size() < before.size() && count_words(label) == 1 && is_heading(label);
  const bool is_lettered = sign == 1 && is_letter(line[0]) && line.size() > 2 && line[2] == ' ';
  const bool is_label =
      sign < line.size() && (is_numbered || is_lettered || (line[sign] == ':' && base::contains(labels, before)));
  return is_label ? base::trim(line.substr(sign + 1)) : line;
}

std::vector<AnswerLine> answer_lines(std::string_view plain) {
  std::vector<AnswerLine> lines;
  for (const auto line : lines_of(plain)) {
    const auto rest = behind_mark(line);
    const auto sentences = sentences_of(rest);  // none of an empty line
    const bool is_list = std::ranges::all_of(sentences, [](std::string_view one) {
      return count_words(one) < most_words && !clean(behind_mark(one)).empty();
    });
    for (const auto part : is_list ? sentences : Parts{rest}) {  // "Kind. Warm. Busy."
      lines.push_back({behind_mark(part), indent_of(line, plain), rest.size() < line.size()});
    }
  }
  return lines;
}

/// Of JSON "role: cook", where one or two words explain nothing.
bool is_member(const AnswerLine& line) {
  const auto value = line.text.substr(explanation(line.text));
  return !line.is_marked && count_words(value) > 1 && count_words(value) <= 3 && value.find(',') >= value.size() - 1;
}

/// Entries of numbered or bulleted lines, but for sentences with commas. Lines that are set in below another explain
/// it; where that ends with ":" and they are short, they are what is listed ("Positive:" above "kind").
Parts marked_entries(const std::vector<AnswerLine>& lines) {
  Parts entries;
  std::size_t outer = std::string_view::npos;  // the text's white space in front of its first line is lost
  for (const auto& line : lines | std::views::drop(1)) {
    outer = line.is_marked ? std::min(outer, line.indent) : outer;
  }
  bool inner_is_listed = false;
  for (std::size_t place = 0; place < lines.size(); ++place) {
    const auto& line = lines[place];
    if (!line.is_marked) {
      continue;
    }
    const bool is_inner = outer < line.indent && line.indent - outer > 1;
    if (!is_inner) {
      const bool has_inner =
          place + 1 < lines.size() && lines[place + 1].is_marked && lines[place + 1].indent > line.indent + 1;
      inner_is_listed = has_inner && line.text.ends_with(':') && count_words(lines[place + 1].text) < most_words;
    }
    const auto dashed = lines.size() == 1 ? dashed_parts(line.text) : Parts{};
    const auto parts = dashed.empty() ? parts_of(line.text.substr(0, explanation(line.text))) : dashed;
    const auto num_words = std::ranges::count_if(parts, [](auto part) { return !clean(part, Entry::marked).empty(); });
    if (is_inner == inner_is_listed && 2 * num_words >= std::ssize(parts)) {
      entries.insert(entries.end(), parts.begin(), parts.end());
    }
  }
  return entries;
}

/// Whether so many lines are most of the text, but for those that announce: running text holds short lines by chance.
bool are_most(std::size_t num_lines, const std::vector<AnswerLine>& lines) {
  const auto announcing = std::ranges::count_if(lines, [](const AnswerLine& one) { return one.text.ends_with(':'); });
  return 2 * num_lines + 1 + static_cast<std::size_t>(announcing) >= lines.size();
}

/// Lines that are a keyword, with or without an explanation.
Parts short_lines(const std::vector<AnswerLine>& lines) {
  Parts found;
  for (const auto& line : lines) {
    const auto own = line.text.substr(0, explanation(line.text));
    if (!line.is_marked && !line.text.ends_with(':') && !line.text.ends_with('?') && count_words(own) <= 3 &&
        own.find_first_of(",;|/#") == std::string_view::npos && !has_refusal(line.text)) {
      found.push_back(line.text);
    }
  }
  return are_most(found.size(), lines) ? found : Parts{};
}

/// Whether what stands before a colon names a list ("Positive traits") and is no keyword.
bool names_list(std::string_view label) {
  const auto lower = base::lower_ascii(base::trim(label));
  static constexpr auto words = word_list<"positive negative neutral words keywords traits">;
  return lower.empty() || (lower.ends_with('s') && count_words(lower) <= 3) || is_heading(lower) ||
         has_word(lower, words);
}

/// Lists that stand behind a name ("Positive: kind, warm") or go on over lines.
Parts lists_of_lines(const std::vector<AnswerLine>& lines) {
  Parts all;
  std::size_t num_lists = 0;
  for (const auto& line : lines) {
    const bool has_lists = base::count_of(line.text, ":") > 1;  // "Positive: kind, warm; negative: loud"
    const auto sentences = has_lists ? parts_between(line.text, ".;") : sentences_of(line.text);
    for (const auto sentence : sentences) {
      auto parts = listed_in(sentence);
      const auto colon = std::min(sentence.find(':'), sentence.size());
      if (parts.empty() && is_heading(base::lower_ascii(sentence.substr(0, colon))) && colon < sentence.size()) {
        parts = {base::trim(sentence.substr(colon + 1))};  // "Neutral: quiet"
      }
      const auto begin = parts.empty() ? 0 : static_cast<std::size_t>(parts.front().data() - sentence.data());
      const auto before = base::trim(sentence.substr(0, begin));
      const bool is_named = before.ends_with(':') && names_list(before.substr(0, before.size() - 1));
      if (!parts.empty() && (is_named || (before.empty() && sentences.size() == 1))) {
        ++num_lists;
        all.insert(all.end(), parts.begin(), parts.end());
      }
    }
  }
  return num_lists > 1 && are_most(num_lists, lines) ? all : Parts{};
}

bool has_heading(std::string_view lower) { return std::ranges::any_of(parts_between(lower, " "), is_heading); }

/// Whether a sentence means its list as an answer: not what it says of stereotypes, no examples of something else in a
/// text of many sentences, and without words before it three keywords or more or all of the text.
bool lists_keywords(std::string_view sentence, const Parts& parts, std::size_t num_sentences) {
  constexpr std::size_t few_sentences = 3;
  static constexpr std::string_view giving[] = {" include ", " includes ", " including ",
                                                " like ",    " such as ",  " terms of "};
  const auto lower = base::lower_ascii(sentence);
  const auto before = lower.substr(0, parts.front().data() - sentence.data());
  const bool gives_examples = num_sentences > few_sentences && has_part(lower, giving) && !has_heading(before);
  const auto keywords = std::ranges::count_if(parts, [](std::string_view part) { return !clean(part).empty(); });
  const bool is_list = num_sentences == 1 || (keywords > 2 && 5 * keywords >= 4 * std::ssize(parts));
  const bool is_aside = num_sentences > few_sentences && keywords < 3 && !has_heading(before);
  static constexpr auto others = word_list<"it this that which who">;  // "though it is old and wrong"
  const auto words = parts_between(before, " ");
  const bool is_of_it = before.ends_with("s ") && words.size() > 2 && base::contains(others, words[words.size() - 3]);
  return !has_part(before, about_stereotypes) && !gives_examples && !is_aside && !is_of_it &&
         (!before.empty() || is_list);
}

/// The sentence that lists most; late in running text only one with words before its list, or of four keywords.
Parts longest_list(const std::vector<AnswerLine>& lines) {
  Parts best;
  Parts sentences;
  for (const auto& line : lines) {
    if (has_part(base::lower_ascii(line.text), wishes)) {
      return best;
    }
    std::ranges::copy(sentences_of(line.text), std::back_inserter(sentences));
  }
  for (const auto sentence : sentences) {
    const auto parts = listed_in(sentence);
    const bool is_late = sentences.size() > 3 && sentence.data() > sentences[1].data();
    const bool is_whole =
        parts.size() > 3 && std::ranges::none_of(parts, [](std::string_view one) { return clean(one).empty(); });
    const bool counts = !is_late || is_whole || (!parts.empty() && parts.front().data() != sentence.data());
    if (counts && parts.size() > best.size() && lists_keywords(sentence, parts, sentences.size())) {
      best = parts;
    }
  }
  return best;
}

/// Words in quotation marks, with them: where two stand side by side, of the first sentences, in a long text of the
/// first.
Parts quoted_words(std::string_view plain) {
  static constexpr std::string_view joints[] = {"", ",", "and", ", and", "or", ", or", "&"};
  Parts found;
  const auto sentences = sentences_of(plain);
  for (const auto sentence : sentences | std::views::take(sentences.size() > 3 ? 1 : 3)) {
    Parts own;
    bool are_joined = false;
    const auto parts = parts_between(sentence, "\"");
    for (std::size_t place = 1; place + 1 < parts.size(); place += 2) {
      if (!parts[place].empty() && count_words(parts[place]) < most_words) {
        own.emplace_back(parts[place].data() - 1, parts[place].size() + 2);
        are_joined = are_joined || (own.size() > 1 && base::contains(joints, parts[place - 1]));
      }
    }
    found.insert(found.end(), own.begin(), are_joined ? own.end() : own.begin());
  }
  return found;
}

/// "Listing words such as 'lazy' would be unfair, so I won't": the sentence declines behind its list, or, where it
/// speaks of giving one, a later sentence does.
bool declines_behind(std::string_view plain, std::string_view entry) {
  static constexpr auto turns = word_list<"but though although however while">;
  static constexpr std::string_view possible[] = {" could ", " might "};  // "I could say lazy, loud, rude, but I won't"
  const auto sentences = sentences_of(plain);
  const auto own =
      *std::ranges::find_if(sentences, [&](std::string_view one) { return one.data() + one.size() > entry.data(); });
  const auto before = own.substr(0, static_cast<std::size_t>(entry.data() - own.data()));
  const bool is_of_giving = own.ends_with('?') || own.substr(0, own.find(' ')).ends_with("ing");
  const TokenizedText text(is_of_giving ? plain.substr(static_cast<std::size_t>(entry.data() - plain.data()))
                                        : own.substr(before.size()));
  const auto refusals = find_declining(text.tokens());
  const auto is_turn = [](const Token& one) { return base::contains(turns, one.text); };
  return !refusals.empty() &&
         (has_part(before, possible) || std::ranges::none_of(text.tokens().first(refusals.front().first), is_turn));
}

struct Entries {
  Parts parts;
  Entry kind;
};

/// The first of the shapes of a list that the answer has.
Entries find_entries(std::string_view plain, const std::vector<AnswerLine>& lines, End end) {
  const auto has_words = [](const Parts& parts, Entry kind = Entry::plain) {
    return std::ranges::count_if(parts, [&](std::string_view one) { return !keyword_of(one, kind).empty(); });
  };
  // "Kind", "They are seen as kind and strict".
  const bool is_alone = lines.size() == 1 && end == End::finished && sentences_of(lines.front().text).size() == 1;
  const auto pair = is_alone ? parts_of(behind_lead(lines.front().text)) : Parts{};
  const bool is_short = is_alone && count_words(lines.front().text) <= 2;
  const bool is_pair = pair.size() == 2 && lines.front().text.find(',') == std::string_view::npos;
  const Parts alone = is_short ? parts_of(lines.front().text) : is_pair ? pair : Parts{};
  auto marked = marked_entries(lines);
  const auto num_marked = has_words(marked, Entry::marked);
  if (num_marked > 1 || (num_marked > 0 && lines.size() == 1)) {
    return {std::move(marked), Entry::marked};
  }
  Parts best;
  for (const auto& parts : {lists_of_lines(lines), short_lines(lines)}) {
    if (has_words(parts) > 1) {
      return {parts, Entry::plain};
    }
  }
  auto listed = longest_list(lines);
  listed = has_words(listed) > 1 ? listed : Parts{};
  for (const auto& parts : {listed, quoted_words(plain), marked, alone}) {
    best = has_words(parts) > has_words(best) ? parts : best;
  }
  return {std::move(best), Entry::plain};
}

}  // namespace

Keywords parse_keywords(std::string_view answer, std::size_t most, End end) {
  const auto plain = base::replace_all(with_marks_at_lines(plain_text(answer)), " & ", " and ");
  auto lines = answer_lines(plain);
  if (answer.find("\":") != std::string_view::npos) {
    std::erase_if(lines, is_member);
  }
  const auto [entries, kind] = find_entries(plain, lines, end);
  Keywords keywords;
  std::set<std::string> known;
  const bool is_declined =
      !entries.empty() && (declines_before(plain, static_cast<std::size_t>(entries.front().data() - plain.data())) ||
                           (kind == Entry::plain && declines_behind(plain, entries.front())));
  if (!is_declined) {
    for (const auto entry : entries) {
      const auto word = keyword_of(entry, kind);
      // The last word of a text that was cut may be half a word.
      const bool is_half =
          end == End::cut_off && is_letter(plain.back()) && entry.data() + entry.size() == plain.data() + plain.size();
      if (is_half && !keywords.words.empty() && keywords.words.size() + 1 < most) {
        const bool is_by_chance = kind == Entry::plain && lines.size() > 2 && keywords.words.size() == 1;
        keywords.words.resize(is_by_chance ? 0 : keywords.words.size());
        continue;
      }
      if (!word.empty() && keywords.words.size() < most && known.insert(word).second) {
        keywords.words.push_back(word);
      }
    }
  }
  static constexpr auto nothing = word_list<"no none nothing n/a">;
  if (base::contains(nothing, base::join(keywords.words, "/"))) {
    keywords.words.clear();
  }
  const auto lower = base::lower_ascii(plain);
  keywords.status = keywords.words.empty() ? no_answer(lower, end) : Status::answered;
  return keywords;
}

}  // namespace stereosweep::answers
