#include "corpus/StaticVectors.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "base/Error.hpp"
#include "corpus/Corpus.hpp"
#include "corpus/CorpusFiles.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::corpus {
namespace {

using Format = StaticVectors::Format;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::write_text;

std::string row_of(const std::string& word, const std::vector<float>& vector) {
  std::string row = word + " ";
  row.append(reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float));
  return row;
}

/// A table, its words with a vector and their numbers one after another.
struct FlatTable {
  std::int64_t dimension;
  std::uint64_t rows;
  std::vector<std::string> words;
  std::vector<float> vectors;
  std::vector<std::string> missing;
  std::string remark;
  std::string first_word;
};

FlatTable flat(const StaticTable& table) {
  FlatTable made{table.dimension, table.rows, {}, {}, table.missing(), table.remark, table.first_word};
  for (const auto& [word, vector] : table.words) {
    if (!vector.empty()) {
      made.words.push_back(word);
      made.vectors.insert(made.vectors.end(), vector.begin(), vector.end());
    }
  }
  return made;
}

class StaticVectorsTest : public ::testing::Test {
 protected:
  FlatTable read(std::string_view content, std::vector<std::string> words, Format format = Format::automatic) {
    write_text(path(), content);
    return flat(read_vectors({path().string(), format}, words));
  }
  std::string refusal_of(std::string_view content, Format format = Format::automatic) {
    try {
      read(content, {"rose"}, format);
      return "none";
    } catch (const base::InputError& error) {
      return error.what();
    }
  }
  std::filesystem::path path() const { return directory_ / "v"; }
  testing::TemporaryDirectory directory_;
};

TEST_F(StaticVectorsTest, KeepsTheWordsThatAreAskedFor) {
  const auto table =
      read("4 3\nrose 0.1 -2 3e-5\nthe 1 2 3 \noak_tree 4 5 6\r\nrose 7 8 9\n", {"spider", "oak tree", "rose"});
  EXPECT_EQ(table.dimension, 3);
  EXPECT_EQ(table.rows, 4U);
  EXPECT_THAT(table.words, ElementsAre("oak tree", "rose"));
  EXPECT_THAT(table.missing, ElementsAre("spider"));
  EXPECT_THAT(table.vectors, ElementsAre(4, 5, 6, 0.1F, -2, 3e-5F));
}

TEST_F(StaticVectorsTest, PrefersAWordAsItIsWritten) {
  EXPECT_THAT(read("oak_tree 1 2\noak tree 3 4\noak 5 6", {"oak tree"}).vectors, ElementsAre(3, 4));
  EXPECT_THAT(read("oak tree 3 4\noak_tree 1 2\noak 5 6", {"oak tree", "oak_tree"}).vectors, ElementsAre(3, 4, 1, 2));
}

TEST_F(StaticVectorsTest, PassesOverAMarkAndEmptyLines) {
  for (const std::string header : {"", "2 2\n"}) {
    const auto table = read("\xEF\xBB\xBF" + header + "rose 1 2\n\n \r\nthe 3 4\n\n", {"rose", "the"});
    EXPECT_EQ(table.rows, 2U);
    EXPECT_EQ(table.first_word, "rose");
    EXPECT_THAT(table.vectors, ElementsAre(1, 2, 3, 4));
  }
  EXPECT_THAT(refusal_of("\n\n\n"), HasSubstr("0 numbers"));
  EXPECT_EQ(read("2 1\nrose 1 2\nthe 3 4\n", {"rose"}).first_word, "rose 1");  // the header's dimension is wrong
}

TEST_F(StaticVectorsTest, TakesTheLastFieldsWhereWordsHaveBlanks) {
  const auto table = read(". . . 1 2\n, 3 4\nthe 5 6\n1 2 7 8\n", {". . .", "1 2", "the"}, Format::glove_text);
  EXPECT_EQ(table.dimension, 2);
  EXPECT_THAT(table.vectors, ElementsAre(1, 2, 7, 8, 5, 6));
}

TEST_F(StaticVectorsTest, ReadsBothKindsOfBinaryRows) {
  for (const std::string end : {"", "\n"}) {
    // the first number begins with a byte that looks like a line feed
    const auto content = "2 2\n" + row_of("the", {0x1.000014p0F, 2}) + end + row_of("rose", {3, -0.5F}) + end;
    for (const auto format : {Format::automatic, Format::word2vec_binary}) {
      const auto table = read(content, {"rose", "the"}, format);
      EXPECT_THAT(table.vectors, ElementsAre(3, -0.5F, 0x1.000014p0F, 2));
    }
    EXPECT_EQ(read(testing::to_gzip(content), {"rose"}).vectors, (std::vector<float>{3, -0.5F}));
    EXPECT_EQ(read(testing::to_zstd(content), {"rose"}).vectors, (std::vector<float>{3, -0.5F}));
  }
}

TEST_F(StaticVectorsTest, ReadsLargeFilesOfEveryKindAlike) {
  std::mt19937_64 random(6);
  std::normal_distribution<float> normal;
  constexpr int rows = 3000;
  constexpr int dimension = 50;
  std::string text;
  std::string binary = std::to_string(rows) + " " + std::to_string(dimension) + "\n";
  std::vector<std::string> words;
  std::vector<float> expected;
  for (int row = 0; row < rows; ++row) {
    std::vector<float> vector(dimension);
    const auto word = "w" + std::to_string(row);
    text += word;
    for (auto& number : vector) {
      number = normal(random);
      std::array<char, 64> buffer{};
      std::snprintf(buffer.data(), buffer.size(), " %.9g", static_cast<double>(number));
      text += buffer.data();
    }
    text += "\n";
    binary += row_of(word, vector);
    if (row % 7 == 0) {
      words.push_back(word);
      expected.insert(expected.end(), vector.begin(), vector.end());
    }
  }
  EXPECT_EQ(read(text, words).vectors, expected);
  EXPECT_EQ(read("3000 50\n" + text, words).vectors, expected);
  EXPECT_EQ(read(binary, words).vectors, expected);
  EXPECT_EQ(format_of_vectors(path()), Format::word2vec_binary);
}

TEST_F(StaticVectorsTest, RefusesWrongTextWithItsLine) {
  EXPECT_THAT(refusal_of("2 2\nthe 1 2\n"), AllOf(HasSubstr("v:2:"), HasSubstr("header says 2")));
  EXPECT_THAT(refusal_of("1 2\nthe 1 2\nrose 1 2\n"), AllOf(HasSubstr("v:3:"), HasSubstr("more rows")));
  EXPECT_THAT(refusal_of("2 3\nthe 1 2 3\nrose 1 2\n"), AllOf(HasSubstr("v:3:"), HasSubstr("2 numbers")));
  EXPECT_THAT(refusal_of("the 1 2\nrose 1 nan\nx 1 2"), AllOf(HasSubstr("v:2:"), HasSubstr("nan")));
  EXPECT_THAT(refusal_of("the 1 2\nrose 1 1e39\nx 1 2"), HasSubstr("1e39"));
  EXPECT_THAT(refusal_of("the 1 2\nrose 1 x\nx 1 2"), HasSubstr("\"x\""));
  EXPECT_THAT(refusal_of("the 1 2\nrose  2\nx 1 2"), HasSubstr("v:2:"));
  EXPECT_THAT(refusal_of("the\nrose\n"), HasSubstr("0 numbers"));
  EXPECT_THAT(refusal_of("the 1\n" + std::string(2 << 20, 'x')), HasSubstr("too long"));
  EXPECT_THAT(refusal_of("x y\n", Format::word2vec_text), HasSubstr("no header"));
  EXPECT_THAT(refusal_of("1 70000\n", Format::word2vec_text), HasSubstr("no header"));
  EXPECT_NE(refusal_of(""), "none");
  EXPECT_NE(refusal_of("", Format::word2vec_text), "none");
}

TEST_F(StaticVectorsTest, RefusesWrongBinaryWithItsByte) {
  const auto whole = "2 3\n" + row_of("the", {1, 2, 3}) + row_of("rose", {4, 5, 6});
  EXPECT_EQ(refusal_of(whole, Format::word2vec_binary), "none");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(refusal_of(whole.substr(0, size), Format::word2vec_binary), HasSubstr("at byte")) << size;
  }
  EXPECT_THAT(refusal_of(whole + "x", Format::word2vec_binary), HasSubstr("behind the last row at byte 37"));
  EXPECT_THAT(refusal_of("9" + whole, Format::word2vec_binary), HasSubstr("of 92"));
  EXPECT_THAT(refusal_of("9999999999999999 3\n" + row_of("the", {1, 2, 3}), Format::word2vec_binary),
              HasSubstr("has no word"));
  EXPECT_THAT(refusal_of("1 1\n" + std::string(5000, 'x') + row_of("", {1}), Format::word2vec_binary),
              HasSubstr("has no word"));
  EXPECT_THAT(refusal_of("1 1\n" + row_of("rose", {std::numeric_limits<float>::quiet_NaN()}), Format::word2vec_binary),
              HasSubstr("not finite"));
}

TEST_F(StaticVectorsTest, IgnoresCaseAndAccentsWhereItIsTold) {
  write_text(path(), "emily 1\nEMILY 2\nRené 3\nrene 4\nzoe\xCC\x88 5\nO_Hara 6\nGreg 7\ngreg 8\n");
  const std::vector<std::string> words = {"Emily", "rene\xCC\x81", "Zoe", "o hara", "Greg", "absent"};
  StaticVectors source{path().string(), Format::glove_text};
  auto table = flat(read_vectors(source, words));
  EXPECT_THAT(table.words, ElementsAre("Greg"));
  EXPECT_THAT(table.vectors, ElementsAre(7));
  // case alone finds Emily, "rené" (as "René") and "o hara", accents alone nothing that case does not, both Zoe
  EXPECT_THAT(table.remark,
              AllOf(HasSubstr("vectors.case: ignore would find 3 more words"),
                    HasSubstr("case and accents: ignore would find 1 more word"), Not(HasSubstr("vectors.accents"))));
  source.letter_case = StaticVectors::Case::ignore;
  table = flat(read_vectors(source, words));
  EXPECT_THAT(table.words, ElementsAre("Emily", "rene\xCC\x81", "o hara", "Greg"));
  EXPECT_THAT(table.vectors, ElementsAre(1, 3, 6, 7));  // the first row; an exact one before all others
  EXPECT_EQ(table.remark, "vectors.accents: ignore would find 1 more word");
  source.accents = StaticVectors::Accents::ignore;
  table = flat(read_vectors(source, words));
  EXPECT_THAT(table.vectors, ElementsAre(1, 3, 5, 6, 7));
  EXPECT_THAT(table.missing, ElementsAre("absent"));
  EXPECT_EQ(table.remark, "");
}

TEST_F(StaticVectorsTest, FindsAWordInEitherUnicodeForm) {
  const auto table = read("cafe 1\ncaf\xC3\xA9 2\nfiance\xCC\x81 3\n", {"cafe\xCC\x81", "fianc\xC3\xA9"});
  EXPECT_THAT(table.vectors, ElementsAre(2, 3));
}

TEST_F(StaticVectorsTest, TakesLongWordsOfMarksInItsStride) {
  std::string word = "e";
  for (int i = 0; i < 200000; ++i) {
    word += i % 2 == 0 ? "\u0301" : "\u0323";
  }
  EXPECT_THAT(read(word + " 1 2\nrose 3 4\n", {"rose"}).vectors, ElementsAre(3, 4));
}

TEST_F(StaticVectorsTest, NamesWordsWhoseVectorIsAllZeros) {
  const auto table = read("rose 1 2\nash 0 -0\n", {"ash", "rose"});
  EXPECT_THAT(table.words, ElementsAre("rose"));
  EXPECT_THAT(table.vectors, ElementsAre(1, 2));
  EXPECT_THAT(table.missing, ElementsAre("ash"));
  EXPECT_THAT(table.remark, HasSubstr("\"ash\" is all zeros"));
}

TEST_F(StaticVectorsTest, ReadsWordsWithBlanksOfABinaryFile) {
  std::mt19937_64 random(9);
  std::normal_distribution<float> normal(0, 0.3F);
  const std::vector<std::string> words = {"New York", "rose", "the United States of America",   "a b", "1 2 3 4 5 6",
                                          "x",        "",     "\xC3\xA9t\xC3\xA9 \xE6\xBC\xA2", "of",  "New York"};
  for (const int dimension : {2, 3, 50, 300}) {
    for (const std::string end : {"", "\n"}) {
      std::string content = std::to_string(words.size()) + " " + std::to_string(dimension) + "\n";
      std::vector<std::vector<float>> vectors;
      for (const auto& word : words) {
        auto& vector = vectors.emplace_back();
        for (int i = 0; i < dimension; ++i) {
          vector.push_back(normal(random));
        }
        content += row_of(word, vector) + end;
      }
      const std::vector<std::string> asked = {words[0], words[1], words[2], words[3], words[4], words[7], words[8]};
      const auto table = read(content, asked, Format::word2vec_binary);
      EXPECT_EQ(table.words, asked) << dimension;
      std::vector<float> expected;
      for (const std::size_t word : {0, 1, 2, 3, 4, 7, 8}) {
        expected.insert(expected.end(), vectors[word].begin(), vectors[word].end());
      }
      EXPECT_EQ(table.vectors, expected) << dimension;
      EXPECT_EQ(table.first_word, "New York");
    }
  }
}

TEST_F(StaticVectorsTest, PassesOverAnEmptyWordThatNobodyWants) {
  for (const std::string end : {"", "\n"}) {
    const auto content =
        "3 2\n" + row_of("the", {1, 2}) + end + row_of("", {3, 4}) + end + row_of("rose", {5, 6}) + end;
    EXPECT_THAT(read(content, {"rose", "the"}, Format::word2vec_binary).vectors, ElementsAre(5, 6, 1, 2));
  }
}

TEST_F(StaticVectorsTest, KnowsTextWhoseFirstWordHasABlank) {
  for (const std::string word : {"New York", "a b c", "1 2"}) {
    const auto table = read("2 3\n" + word + " 0.5 -1e-3 2\nrose 1 2 3\n", {word, "rose"});
    EXPECT_EQ(format_of_vectors(path()), Format::word2vec_text) << word;
    EXPECT_THAT(table.vectors, ElementsAre(0.5F, -1e-3F, 2, 1, 2, 3));
  }
  // a row that is longer than what is looked at
  std::string row = "New York";
  for (int i = 0; i < 20000; ++i) {
    row += " 0.125";
  }
  write_text(path(), "1 20000\n" + row + "\n");
  EXPECT_EQ(format_of_vectors(path()), Format::word2vec_text);
}

}  // namespace
}  // namespace stereosweep::corpus
