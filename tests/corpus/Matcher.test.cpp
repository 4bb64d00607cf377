#include "corpus/Matcher.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "corpus/Characters.hpp"
#include "corpus/Corpus.hpp"

namespace stereosweep::corpus {
namespace {

using Boundary = Corpus::Boundary;
using Case = Corpus::Case;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> mixed_words = {
    "rose",          "Rose", "oak tree", "été", "co-op", ".net",        "🙂",      "k", "s",       "o'hara",
    "tree oak tree", "oak",  "- a b",    "σας", "a",     "wonderfully", "wonderful", "%", "e\u0301t"};

// The truth: kinds and foldings of the few characters that the texts below are made of, written down by hand.
const std::map<char32_t, Kind> by_hand = {{U'é', Kind::word},
                                          {U'É', Kind::word},
                                          {U'\u0301', Kind::word},
                                          {U'ſ', Kind::word},
                                          {U'σ', Kind::word},
                                          {U'ς', Kind::word},
                                          {U'Σ', Kind::word},
                                          {U'Α', Kind::word},
                                          {U'α', Kind::word},
                                          {U'\u212A', Kind::word},
                                          {U'²', Kind::other},
                                          {U'٣', Kind::word},
                                          {U'’', Kind::other},
                                          {U'—', Kind::other},
                                          {U'🙂', Kind::other},
                                          {U'\u00A0', Kind::white_space},
                                          {U'\u3000', Kind::white_space},
                                          {U'漢', Kind::word},
                                          {U'𝔸', Kind::word},
                                          {U'á', Kind::word},
                                          {U'Á', Kind::word},
                                          {U'ḱ', Kind::word},
                                          {U'Ḱ', Kind::word},
                                          {U'ś', Kind::word},
                                          {U'ĺ', Kind::word},
                                          {U'ý', Kind::word},
                                          {U'ṕ', Kind::word},
                                          {U'ά', Kind::word},
                                          {U'Ά', Kind::word}};
const std::map<char32_t, char32_t> folded_by_hand = {{U'É', U'é'}, {U'ſ', U's'}, {U'ς', U'σ'}, {U'Σ', U'σ'},
                                                     {U'Α', U'α'}, {U'Á', U'á'}, {U'Ḱ', U'ḱ'}, {U'Ά', U'ά'}};

Kind true_kind(char32_t c) {
  if (c < 128) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const bool space = c == ' ' || (c >= 9 && c <= 13);
    return word ? Kind::word : space ? Kind::white_space : Kind::other;
  }
  return by_hand.at(c);
}

struct Decoded {
  std::u32string text;
  std::vector<std::size_t> offsets;  // of each character, and of the end
};

// With an acute accent, of the letters that the words below end with.
const std::map<char32_t, char32_t> accented_by_hand = {{U'e', U'é'}, {U'E', U'É'}, {U'a', U'á'}, {U'A', U'Á'},
                                                       {U'k', U'ḱ'}, {U'K', U'Ḱ'}, {U's', U'ś'}, {U'l', U'ĺ'},
                                                       {U'y', U'ý'}, {U'p', U'ṕ'}, {U'α', U'ά'}, {U'Α', U'Ά'}};

// In NFC (of these characters), without those that are not seen.
Decoded decode(std::string_view text, Case letter_case) {
  Decoded decoded;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = base::decode_utf8(text, at).value();
    const char32_t value = point.value == U'\u212A' ? U'K' : point.value;
    if (value == U'\u0301' && !decoded.text.empty() && accented_by_hand.contains(decoded.text.back())) {
      decoded.text.back() = accented_by_hand.at(decoded.text.back());
    } else if (value != U'\u00AD' && value != U'\u200D' && value != U'\u200B') {
      decoded.text += value;
      decoded.offsets.push_back(at);
    }
    at += point.length;
  }
  decoded.offsets.push_back(text.size());
  for (auto& value : decoded.text) {
    if (letter_case == Case::ignore) {
      value = value >= 'A' && value <= 'Z' ? value + 32 : value;
      value = folded_by_hand.contains(value) ? folded_by_hand.at(value) : value;
    }
  }
  return decoded;
}

// Every word at every place of one line, character by character.
std::vector<Hit> brute_force(std::string_view line, Boundary boundary, Case letter_case) {
  const auto text = decode(line, letter_case);
  std::vector<Hit> hits;
  for (std::size_t begin = 0; begin < text.text.size(); ++begin) {
    for (std::size_t word = 0; word < mixed_words.size(); ++word) {
      auto at = begin;
      bool same = true;
      for (const auto wanted : decode(mixed_words[word], letter_case).text) {
        const auto from = at;
        if (wanted == ' ' && boundary == Boundary::word) {
          while (at < text.text.size() && true_kind(text.text[at]) == Kind::white_space) {
            ++at;
          }
        } else if (at < text.text.size() && text.text[at] == wanted) {
          ++at;
        }
        same = same && at > from;
      }
      const auto bounded = [&](bool is_end, std::size_t beside) {
        return boundary == Boundary::blanks ? !is_end && text.text[beside] == ' '
                                            : is_end || true_kind(text.text[beside]) != Kind::word;
      };
      if (same && bounded(begin == 0, begin - 1) && bounded(at == text.text.size(), at)) {
        auto end = text.offsets[at];
        for (const std::string unseen : {"\u00AD", "\u200D", "\u200B"}) {  // at most one stands there
          end -= line.substr(0, end).ends_with(unseen) ? unseen.size() : 0;
        }
        hits.push_back({word, text.offsets[begin], end});
      }
    }
  }
  return hits;
}

std::string random_line(std::mt19937_64& random) {
  static const std::vector<std::string> pieces = {
      "rose",     "Rose",   "ROSE", "oak",    "tree", "été", "ÉTÉ",        "co-op",          "Co-Op",       ".net",
      ".NET",     "🙂",   "k",    "\u212A", "s",    "ſ",   "O'Hara",     "o'hara",         "o’hara",      "- a b",
      "-  a\tb",  "σας",    "ΣΑΣ",  "σασ",    "α",    "a",   "A",          "wonderful",      "wonderfully", "%",
      "e\u0301t", "\u0301", "²",    "٣",      "漢",   "𝔸",   "—",          "\u00A0",         "\u3000",      "\t",
      "\r",       "-",      ",",    "1",      "_",    "é",   "ro\u00ADse", "oa\u200D\u006B", "%\u200B"};
  std::string line;
  for (auto count = random() % 14; count > 0; --count) {
    line += pieces[random() % pieces.size()];
    line += random() % 3 == 0 ? "" : random() % 4 == 0 ? "  " : " ";
  }
  return line;
}

class AgainstBruteForce : public ::testing::TestWithParam<std::tuple<Boundary, Case>> {};

TEST_P(AgainstBruteForce, LineByLineAndAllLinesAtOnce) {
  const auto [boundary, letter_case] = GetParam();
  Matcher matcher(mixed_words, boundary, letter_case);
  std::mt19937_64 random(20);
  std::size_t num_hits = 0;
  for (int text = 0; text < 400; ++text) {
    std::string block;
    std::vector<Hit> expected;
    for (auto lines = random() % 6 + 1; lines > 0; --lines) {
      const auto line = random_line(random);
      auto hits = brute_force(line, boundary, letter_case);
      ASSERT_EQ(matcher.find(line, Scope::sentence), hits) << line;
      for (auto& hit : hits) {
        expected.push_back({hit.word, hit.begin + block.size(), hit.end + block.size()});
      }
      block += line + "\n";
    }
    ASSERT_EQ(matcher.find(block, Scope::lines), expected) << block;
    EXPECT_THAT(matcher.invalid(), ElementsAre());
    num_hits += expected.size();
  }
  EXPECT_GT(num_hits, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Rules, AgainstBruteForce,
                         ::testing::Combine(::testing::Values(Boundary::word, Boundary::blanks),
                                            ::testing::Values(Case::exact, Case::ignore)));

std::size_t count(const std::string& word, std::string_view text, Boundary boundary = Boundary::word,
                  Case letter_case = Case::exact) {
  const std::vector<std::string> wanted = {word};
  return Matcher(wanted, boundary, letter_case).find(text, Scope::sentence).size();
}

TEST(Matcher, HasStatedBorders) {
  EXPECT_EQ(count("rose", "rose"), 1U);
  EXPECT_EQ(count("rose", "A rose, \"rose\" (rose) rose-red rose's _rose_ rose."), 7U);
  EXPECT_EQ(count("rose", "roses primrose rose2 roseé 漢rose rose\u0301"), 0U);
  EXPECT_EQ(count("cafe", "café cafe\u0301"), 0U);
  EXPECT_EQ(count("café", "café, café"), 2U);
  EXPECT_EQ(count("O'Brien", "O'Brien O’Brien O'Briens"), 1U);
  EXPECT_EQ(count("ha ha", "ha ha ha"), 2U);
  EXPECT_EQ(count("oak tree", "oak tree, oak\n\ttree, oak-tree, oaktree"), 2U);
}

TEST(Matcher, HasThePublishedRuleToo) {
  EXPECT_EQ(count("rose", "rose is a rose , a rose, rose", Boundary::blanks), 1U);
  EXPECT_EQ(count("oak tree", " oak tree oak  tree ", Boundary::blanks), 1U);
}

TEST(Matcher, FoldsOneCharacterToOne) {
  EXPECT_EQ(count("straße", "STRAẞE Straße STRASSE", Boundary::word, Case::ignore), 2U);
  EXPECT_EQ(count("i", "I i İ ı", Boundary::word, Case::ignore), 2U);
  EXPECT_EQ(count("ΣΟΦΟΣ", "σοφος σοφοσ", Boundary::word, Case::ignore), 2U);
}

TEST(Matcher, FindsRunsAtEveryPlaceOfABlock) {
  for (std::size_t before = 0; before < 140; ++before) {
    for (std::size_t behind = 0; behind < 70; behind += 7) {
      const auto text = std::string(before, '.') + "rose" + std::string(behind, '.');
      EXPECT_EQ(count("rose", text), 1U) << before << " " << behind;
    }
    EXPECT_EQ(count("été", std::string(before, '-') + "été"), 1U) << before;
    EXPECT_EQ(count("été", std::string(before, '-') + "étéé"), 0U) << before;
  }
}

TEST(Matcher, NamesWhatIsNoUtf8) {
  const std::vector<std::string> wanted = {"rose"};
  Matcher matcher(wanted, Boundary::word, Case::ignore);
  for (std::size_t before = 0; before < 70; ++before) {
    const std::string good(before, 'x');
    for (const std::string bad :
         {"\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF0\x9F"}) {
      matcher.find(good + "é" + bad + "\nrose", Scope::lines);
      ASSERT_FALSE(matcher.invalid().empty()) << before;
      EXPECT_EQ(matcher.invalid().front(), base::find_invalid_utf8(good + "é" + bad + "\nrose"));
      matcher.find(good + bad, Scope::lines);
      EXPECT_EQ(matcher.invalid().front(), before);
    }
    matcher.find(good + std::string(1, '\0') + "é", Scope::lines);
    EXPECT_THAT(matcher.invalid(), ElementsAre(before));
  }
}

TEST(Matcher, SurvivesRandomBytes) {
  const std::vector<std::string> wanted = {"a", "é", "- a", "漢"};
  Matcher matcher(wanted, Boundary::word, Case::ignore);
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string text(random() % 200, '\0');
    for (auto& c : text) {
      c = "a -\xC3\xA9\xE6\xBC\xA2\xF0\x9F\n"[random() % 12];
    }
    for (const auto& hit : matcher.find(text, Scope::lines)) {
      ASSERT_LE(hit.end, text.size());
    }
    ASSERT_EQ(matcher.invalid().empty(), !base::find_invalid_utf8(text) && text.find('\0') == std::string::npos);
  }
}

TEST(Matcher, RefusesWordsThatCannotBeFound) {
  const std::vector<std::string> wanted = {"",     " rose", "rose ", "oak  tree", "a\tb",
                                           "\xFF", "twice", "twice", "a\u00A0b"};
  try {
    Matcher(wanted, Boundary::word, Case::exact);
    FAIL();
  } catch (const base::InputError& error) {
    for (const auto* part : {"is empty", "begins with a blank", "ends with a blank", "control character",
                             "not valid UTF-8", "wanted twice", "white space that is no blank"}) {
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  }
}

TEST(Characters, FoldingKeepsTheKind) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    ASSERT_EQ(kind_of(c), kind_of(fold(c))) << std::hex << static_cast<std::uint32_t>(c);
    ASSERT_EQ(fold(fold(c)), fold(c)) << std::hex << static_cast<std::uint32_t>(c);
  }
}

TEST(WordMasks, VectorInstructionsGiveTheSame) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    Bytes64 bytes{};
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random() % (i % 2 == 0 ? 256 : 128)); });
    ASSERT_EQ(masks_of(bytes.data()), masks_of_each(bytes.data()));
  }
}

std::size_t count_in(std::string_view text, const std::string& word, Boundary boundary = Boundary::word) {
  return Matcher(std::vector<std::string>{word}, boundary, Case::exact).find(text, Scope::lines).size();
}

TEST(MatcherInNormalForm, FindsEitherFormInEither) {
  const std::vector<std::pair<std::string, std::string>> forms = {
      {"caf\u00E9", "cafe\u0301"},
      {"\u1EC7", "e\u0302\u0323"},
      {"\uD55C\uAE00", "\u1112\u1161\u11AB\u1100\u1173\u11AF"},
      {"\u00C5se", "\u212Bse"},
      {"\u05D1\u05B7\u05BC", "\u05D1\u05BC\u05B7"},
      {"\u0958", "\u0915\u093C"}};
  for (const auto& [one, other] : forms) {
    for (const auto& word : {one, other}) {
      for (const auto& text : {one, other}) {
        EXPECT_EQ(count_in("x\nthe " + text + " of " + text + "s.\n", word), 1U) << word << " in " << text;
        EXPECT_EQ(count_in("the " + text + " of", word, Boundary::blanks), 1U) << word << " in " << text;
      }
    }
  }
  EXPECT_EQ(count_in("cafe\u0301", "cafe"), 0U);
  EXPECT_EQ(count_in("cafe\u0301", "caf"), 0U);
}

TEST(MatcherInNormalForm, EndsWordsBesideCharactersThatAreRewritten) {
  const std::vector<std::string> words = {"caf\u00E9", "\u00E9", "\u03BA\u03B1\u03BB\u03AC", "\u00C5se"};
  Matcher matcher(words, Boundary::word, Case::exact);
  const auto find = [&](std::string_view text) { return matcher.find(text, Scope::sentence); };
  EXPECT_THAT(find("cafe\u0301\u037E no"), ElementsAre(Hit{0, 0, 6}));  // a Greek question mark: ";" in NFC
  EXPECT_THAT(find("a e\u0301\u037E"), ElementsAre(Hit{1, 2, 5}));
  EXPECT_THAT(find("\u03BA\u03B1\u03BB\u1F71\u0387 e\u0301"), ElementsAre(Hit{2, 0, 9}, Hit{1, 12, 15}));
  EXPECT_THAT(find("\u2001\u212Bse"), ElementsAre(Hit{3, 3, 8}));
  EXPECT_THAT(find("cafe\u00AD\u0301\u00AD, cafe\u0301\u00AD"), ElementsAre(Hit{0, 0, 8}, Hit{0, 12, 18}));
}

TEST(MatcherInNormalForm, PassesOverWhatIsNotSeen) {
  for (const std::string unseen : {"\u00AD", "\u200B", "\u200C", "\u200D", "\u2060", "\uFEFF"}) {
    const auto text = unseen + "ro" + unseen + "se" + unseen + " tree";
    Matcher matcher(std::vector<std::string>{"rose", "r" + unseen + "ose tree"}, Boundary::word, Case::ignore);
    EXPECT_THAT(matcher.find(text, Scope::sentence),
                ElementsAre(Hit{0, unseen.size(), 2 * unseen.size() + 4}, Hit{1, unseen.size(), text.size()}));
    EXPECT_EQ(count_in("prim" + unseen + "rose", "rose"), 0U);
  }
  // words of Khmer are parted by zero-width spaces
  EXPECT_EQ(count_in("\u1780\u1793\u200B\u1785\u17B6", "\u1780\u1793"), 1U);
  EXPECT_THROW(Matcher(std::vector<std::string>{"\u00AD"}, Boundary::word, Case::exact), base::InputError);
}

TEST(MatcherInNormalForm, TakesLongRunsOfMarksInItsStride) {
  std::string text = "a rose e";
  for (int i = 0; i < 200000; ++i) {
    text += i % 2 == 0 ? "\u0301" : "\u0323";
  }
  EXPECT_EQ(count_in(text + " rose", "rose"), 2U);
}

}  // namespace
}  // namespace stereosweep::corpus
