// Files are hostile until checked: thousands of damaged ones end in an error that names what is wrong, or in a
// tokenizer that works.
#include <gmock/gmock.h>

#include <random>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "support/ProcessorTime.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::tokenizer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr auto pairs = R"json({"added_tokens": [
  {"id": 7, "content": "<s>", "special": true, "normalized": false, "single_word": true, "lstrip": true, "rstrip": true},
  {"id": 8, "content": "▁▁", "special": false, "normalized": true}],
 "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Prepend", "prepend": "▁"},
   {"type": "Replace", "pattern": {"Regex": " {1,2}"}, "content": "▁"}, {"type": "Strip", "strip_left": true,
   "strip_right": false}, {"type": "Lowercase"}]},
 "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
   {"type": "Split", "pattern": {"Regex": "[^\\r\\n\\p{L}]?\\p{L}+|\\s+(?!\\S)"
}
, "behavior" : "Isolated", "invert" : false
},
   {"type": "Digits", "individual_digits": true}, {"type": "Punctuation", "behavior": "Contiguous"},
   {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": true}]
}
, "post_processor" : {
  "type" : "Sequence",
  "processors" : [
    {"type" : "ByteLevel", "trim_offsets" : true}, {
      "type" : "TemplateProcessing",
      "single" : [ {"SpecialToken" : {"id" : "<s>", "type_id" : 0}}, {"Sequence" : {"id" : "A", "type_id" : 0}} ],
      "special_tokens" : {"<s>" : {"id" : "<s>", "ids" : [7], "tokens" : ["<s>"]}}
    }
  ]
},
                     "decoder" : {
                       "type" : "Sequence",
                       "decoders" : [
                         {"type" : "Replace", "pattern" : {"String" : "▁"}, "content" : " "}, {"type" : "ByteFallback"},
                         {"type" : "Fuse"}, {"type" : "Strip", "content" : " ", "start" : 1, "stop" : 0}
                       ]
                     },
                                 "model" : {
  "type" : "BPE",
           "dropout" : null,
                       "unk_token" : "<unk>",
                                     "fuse_unk" : true,
                                                  "byte_fallback" : true,
                                                                    "vocab"
      : {"<unk>" : 0, "a" : 1, "b" : 2, "▁" : 3, "ab" : 4, "▁ab" : 5, "<0xC3>" : 6, "<s>" : 7},
        "merges" : [ "a b", [ "▁", "ab" ] ]
}
})json";

constexpr auto words = R"({"added_tokens": [{"id": 3, "content": "[MASK]", "special": true, "normalized": false}],
 "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
 "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
 "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
 "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
   "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "[MASK]": 3, "a": 4, "##b": 5}}})";

constexpr auto unigram = R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
 "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
 "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁", -2.5], ["a", -3], ["b", -3.5], ["ab", -4]]}})";

constexpr auto byte_level = R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true},
 "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0], "trim_offsets": true},
 "decoder": {"type": "ByteLevel"}, "model": {"vocab": {"<s>": 0, "</s>": 1, "a": 2, "b": 3, "Ġ": 4, "ab": 5},
 "merges": ["a b"]}})";

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) {
    out += static_cast<char>(value | 0x80);
  }
  return out + static_cast<char>(value);
}

std::string field(unsigned number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string field(unsigned number, std::uint64_t value) { return varint(number << 3) + varint(value); }

std::string piece(const std::string& text, unsigned char score, unsigned kind) {
  const std::string bits = {0, 0, static_cast<char>(score), static_cast<char>(0xC0)};  // below zero
  return field(1, field(1, text) + varint(2 << 3 | 5) + bits + field(3, kind));
}

// A double array with the one text "A", and what it becomes.
std::string character_map(const std::string& text) {
  const auto word = [](std::uint32_t value) {
    std::string out;
    for (unsigned i = 0; i < 4; ++i) {
      out += static_cast<char>(value >> (8 * i));
    }
    return out;
  };
  std::string units(256 * 4, '\0');
  units.replace(0, 4, word(2U << 10));
  const auto at = (2U ^ 'A');
  units.replace(at * 4, 4, word('A' | 1U << 8 | 4U << 10));
  units.replace((at ^ 4U) * 4, 4, word(0x80000000U | 0U));
  return word(static_cast<std::uint32_t>(units.size())) + units + text + '\0';
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t byte = i; byte < i + 3; ++byte) {
      bits = bits << 8 | (byte < bytes.size() ? static_cast<unsigned char>(bytes[byte]) : 0U);
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      text += i + digit > bytes.size() ? '=' : digits[bits >> (18 - 6 * digit) & 63];
    }
  }
  return text;
}

std::string pieces(std::uint64_t algorithm, const std::string& text = "a b") {
  return piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("\xE2\x96\x81", 8, 1) + piece("a", 10, 1) +
         piece("b", 11, 1) + piece("ab", 12, 5) +
         piece(
             "\xE2\x96\x81"
             "a",
             13, 1) +
         piece("cd", 20, algorithm == 1 ? 1 : 4) +
         field(2, field(3, algorithm) + field(24, std::uint64_t{0}) + field(46, "<s>")) +
         field(3, field(1, "own") + field(2, character_map(text)) + field(3, std::uint64_t{1}) +
                      field(4, std::uint64_t{1}));
}

base::FileSet one_file(const std::string& name, const std::string& content) {
  base::FileSet files("models/x");
  files.add(name, base::to_shared(content));
  files.add("tokenizer_config.json", base::to_shared(R"({"add_bos_token": true})"));
  return files;
}

class Damage {
 public:
  explicit Damage(std::uint64_t seed) : random_(seed) {}
  std::string apply(std::string text) {
    for (auto i = below(3) + 1; i > 0 && !text.empty(); --i) {
      const auto at = below(text.size());
      const auto length = std::min(below(12) + 1, text.size() - at);
      switch (below(7)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, text.substr(below(text.size()), below(60)));
          break;
        case 3:
          text.resize(at);
          break;
        case 4:
          text.replace(at, length,
                       pick({"-1", "4294967295", "1e99", "null", "{}", "[]", "true", "\"\"", "\"\\u0000\""}));
          break;
        case 5:
          text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
          break;
        default:
          swap_words(text, at);
      }
    }
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  std::string pick(std::initializer_list<const char*> texts) { return *(texts.begin() + below(texts.size())); }
  void swap_words(std::string& text, std::size_t at) {
    static const std::vector<std::string> names = {"NFD",       "ByteLevel", "Sequence", "Strip",     "Replace",
                                                   "Regex",     "BPE",       "Unigram",  "WordLevel", "WordPiece",
                                                   "Metaspace", "Removed",   "(a*)*b"};
    const auto begin = text.find('"', at);
    const auto end = begin == std::string::npos ? begin : text.find('"', begin + 1);
    if (end != std::string::npos) {
      text.replace(begin + 1, end - begin - 1, names[below(names.size())]);
    }
  }
  std::mt19937_64 random_;
};

struct Outcome {
  int refused = 0;
  int made = 0;
};

// What a damaged file may do: be refused as input, or tokenize (where a text can be refused as well).
Outcome try_damaged(const std::string& name, const std::string& content, int count, std::uint64_t seed) {
  Damage damage(seed);
  Outcome outcome;
  for (int i = 0; i < count; ++i) {
    const auto files = one_file(name, damage.apply(content));
    std::optional<Tokenizer> made;
    try {
      made.emplace(Tokenizer::from_files(files));
      ++outcome.made;
    } catch (const base::InputError&) {
      ++outcome.refused;
      continue;
    }
    for (const auto* text : {"", " ab  Ab. <s> ▁▁ab ba 12 cdA é☃", "[MASK]  \n\n"}) {
      try {
        const auto encoding = made->encode(text, SpecialTokens::add);
        for (const auto& span : encoding.offsets) {
          EXPECT_LE(span.end, std::string_view(text).size() + 1);
        }
        EXPECT_EQ(base::find_invalid_utf8(made->decode(encoding.ids, Tokenizer::Special::keep)), std::nullopt);
        made->decode(encoding.ids, Tokenizer::Special::skip);
      } catch (const base::Error&) {  // a text without tokens; an expression that gave up
        continue;
      }
    }
  }
  return outcome;
}

TEST(DamagedJson, IsRefusedOrWorks) {
  for (const auto* document : {pairs, words, unigram, byte_level}) {
    ASSERT_EQ(try_damaged("tokenizer.json", document, 0, 1).refused, 0);
    const auto outcome = try_damaged("tokenizer.json", document, 2500, 20220710);
    EXPECT_GT(outcome.refused, 500);
    EXPECT_GT(outcome.made, 50);
  }
}

TEST(DamagedPieces, AreRefusedOrWork) {
  for (const std::uint64_t algorithm : {1U, 2U}) {
    const auto content = pieces(algorithm);
    const auto whole = Tokenizer::from_files(one_file("tokenizer.model", content));
    EXPECT_EQ(whole.decode(whole.encode(" A ab  cd", SpecialTokens::add).ids, Tokenizer::Special::skip), "a b ab cd");
    const auto outcome = try_damaged("tokenizer.model", content, 5000, 20220710);
    EXPECT_GT(outcome.refused, 1000);
    EXPECT_GT(outcome.made, 500);
  }
}

TEST(Pieces, NameFileMessageAndField) {
  const auto rest = piece("<unk>", 0, 2) + piece("<s>", 0, 3);
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"\x0A\xFF", "cut off"},
      {std::string("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), "more than ten bytes"},
      {"\x0B", "wire type 3"},
      {field(1, field(1, "a\xFF")), "models/x/tokenizer.model:pieces[0]: no valid UTF-8 at byte 1"},
      {field(1, std::string()), "the piece is empty"},
      {field(1, field(1, std::uint64_t{5})), "wire type 0"},
      {rest + piece("<s>", 0, 1), "\"<s>\" is there twice"},
      {piece("a", 0, 1), "no unknown piece"},
      {rest + piece("a", 0, 9), "pieces[2]: type 9"},
      {rest + piece("<0x00>", 0, 6), "1 byte pieces"},
      {rest + field(2, field(35, std::uint64_t{1})), "0 byte pieces"},
      {rest + field(2, field(3, std::uint64_t{3})), "model_type word is not supported"},
      {rest + field(2, field(3, std::uint64_t{4})), "model_type char is not supported"},
      {rest + field(3, field(2, "abc")), "normalizer_spec.precompiled_charsmap"},
      {rest + field(5, field(2, "abc")), "denormalizer_spec"},
      {rest + piece("ab", 0, 4), "user-defined piece \"ab\""},
  };
  for (const auto& [content, message] : cases) {
    EXPECT_THAT([&] { Tokenizer::from_files(one_file("tokenizer.model", content)); },
                ThrowsMessage<base::InputError>(HasSubstr(message)));
  }
}

TEST(Replacements, ThatGrowWithoutEndAreRefused) {
  std::string steps;
  for (int i = 0; i < 40; ++i) {
    steps += std::string(i == 0 ? "" : ",") + R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"})";
  }
  const auto tokenizer = Tokenizer::from_files(
      one_file("tokenizer.json", R"({"normalizer": {"type": "Sequence", "normalizers": [)" + steps +
                                     R"(]}, "model": {"type": "WordLevel", "vocab": {"<unk>": 0}}})"));
  EXPECT_THAT([&] { tokenizer.encode("aaaa", SpecialTokens::add); },
              ThrowsMessage<base::InputError>(HasSubstr("grow without end")));
}

TEST(Replacements, OfCharacterMapsThatGrowWithoutEndAreRefused) {
  const auto step = R"({"type": "Precompiled", "precompiled_charsmap": ")" + base64(character_map("AA")) + "\"}";
  std::string steps = step;
  for (int i = 1; i < 40; ++i) {
    steps += "," + step;
  }
  const auto tokenizer = Tokenizer::from_files(
      one_file("tokenizer.json", R"({"normalizer": {"type": "Sequence", "normalizers": [)" + steps +
                                     R"(]}, "model": {"type": "WordLevel", "vocab": {"<unk>": 0}}})"));
  EXPECT_THAT([&] { tokenizer.encode("AAAA", SpecialTokens::add); },
              ThrowsMessage<base::InputError>(HasSubstr("grow without end")));
  const auto from_pieces =
      Tokenizer::from_files(one_file("tokenizer.model", pieces(1, std::string(std::size_t{1} << 20, 'a'))));
  EXPECT_THAT([&] { from_pieces.encode(std::string(100, 'A'), SpecialTokens::add); },
              ThrowsMessage<base::InputError>(HasSubstr("grow without end")));
}

TEST(HostileAddedTokens, WhoseIdIsNoNumberAreRefusedWithTheField) {
  for (const std::string id : {"\"7\"", "1.5", "-1", "null"}) {
    EXPECT_THAT(
        [&] {
          Tokenizer::from_files(one_file("tokenizer.json", R"({"added_tokens": [{"id": 0, "content": "<a>"}, {"id": )" +
                                                               id + R"(, "content": "<b>"}],
              "model": {"type": "WordLevel", "vocab": {"<unk>": 0}}})"));
        },
        ThrowsMessage<base::InputError>(HasSubstr("tokenizer.json:added_tokens[1]")))
        << id;
  }
}

TEST(Sizes, AHundredThousandAddedTokensAndALargeVocabularyLoadInTime) {
  std::string added, vocab;
  for (int i = 0; i < 100'000; ++i) {
    added += (i == 0 ? "" : ",") + (R"({"content": "<t)" + std::to_string(i) + R"(>", "special": true})");
  }
  for (int i = 0; i < 256'000; ++i) {
    vocab += (i == 0 ? "" : ",") + ("\"w" + std::to_string(i) + "\": " + std::to_string(i));
  }
  const auto json =
      R"({"added_tokens": [)" + added + R"(], "model": {"type": "BPE", "vocab": {)" + vocab + R"(}, "merges": []}})";
  const ProcessorTime spent;
  const auto tokenizer = Tokenizer::from_files(one_file("tokenizer.json", json));
  EXPECT_EQ(tokenizer.size(), 356'000U);
  EXPECT_EQ(tokenizer.id_of("<t99999>"), 355'999);
  EXPECT_EQ(tokenizer.encode("<t5><t77777>", SpecialTokens::add).ids.size(), 2U);
  EXPECT_LT(spent.seconds(), 20);  // under a second on a free core; a quadratic loop takes minutes
}

}  // namespace
}  // namespace stereosweep::tokenizer
