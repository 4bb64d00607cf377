#include "corpus/Collect.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "corpus/Corpus.hpp"
#include "corpus/CorpusFiles.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::corpus {
namespace {

using testing::corpus_of;
using testing::to_bzip2;
using testing::to_gzip;
using testing::to_zstd;
using testing::write_text;

const std::vector<std::string> searched = {"rose", "oak tree", "spider", "absent"};

// Lines of random length in which the words turn up now and then.
std::string random_text(std::uint64_t seed, int lines) {
  std::mt19937_64 random(seed);
  const std::vector<std::string> pieces = {"rose", "oak tree", "oak  tree", "spider", "roses", "the", "Rose",
                                           "été",  "x",        ",",         "-",      "\t",    ""};
  std::string text;
  for (int i = 0; i < lines; ++i) {
    for (auto count = random() % 9; count > 0; --count) {
      text += pieces[random() % pieces.size()] + (random() % 5 == 0 ? "" : " ");
    }
    text += random() % 7 == 0 ? "\r\n" : "\n";
  }
  return text;
}

Sample collect_in(const Corpus& corpus, std::uint64_t shards, std::uint64_t seed = 7) {
  auto sample = collect(corpus, searched, seed, {shards - 1, shards});
  for (std::uint64_t i = 0; i + 1 < shards; ++i) {
    sample = merge(std::move(sample), collect(corpus, searched, seed, {i, shards}));
  }
  return sample;
}

class CollectTest : public ::testing::Test {
 protected:
  testing::TemporaryDirectory directory_;
};

TEST_F(CollectTest, FindsWordsWithTheirPlaces) {
  write_text(directory_ / "a.txt", "A rose is a rose.\n\nAn oak\t tree, no spider\r\nprimrose");
  const auto sample = collect(corpus_of(directory_.path()), searched, 1);
  ASSERT_EQ(sample.words.size(), 4U);
  EXPECT_EQ(sample.words[0].occurrences, 2U);
  EXPECT_EQ(sample.words[3].occurrences, 0U);
  EXPECT_EQ(sample.files, 1U);
  EXPECT_EQ(sample.lines, 4U);
  EXPECT_EQ(sample.bytes, std::filesystem::file_size(directory_ / "a.txt"));
  ASSERT_EQ(sample.words[1].contexts.size(), 1U);
  const auto& oak = sample.words[1].contexts[0];
  EXPECT_EQ(oak.sentence, "An oak\t tree, no spider");
  EXPECT_EQ(oak.span, (base::Span{3, 12}));
  EXPECT_EQ(oak.line_offset, 19U);
  EXPECT_EQ(oak.file, "a.txt");
}

TEST_F(CollectTest, ShardsMakeTheSameSample) {
  write_text(directory_ / "one.txt", random_text(1, 4000));
  write_text(directory_ / "sub/two.txt", random_text(2, 900) + "rose without an end");
  write_text(directory_ / "empty.txt", "");
  write_text(directory_ / "three.txt.gz", to_gzip(random_text(3, 2000)));
  write_text(directory_ / "four.txt.zst", to_zstd(random_text(4, 1500)));
  write_text(directory_ / "five.txt.bz2", to_bzip2(random_text(5, 1800)));
  auto corpus = corpus_of(directory_.path());
  corpus.max_contexts = 40;
  const auto whole = collect_in(corpus, 1);
  EXPECT_EQ(whole.files, 6U);
  EXPECT_GT(whole.words[0].occurrences, 1000U);
  EXPECT_EQ(whole.words[0].contexts.size(), 40U);
  for (std::uint64_t shards = 2; shards <= 7; ++shards) {
    EXPECT_EQ(collect_in(corpus, shards), whole) << shards << " shards";
  }
}

TEST_F(CollectTest, CompressionAndOrderOfFilesChangeNothing) {
  const auto one = random_text(1, 700);
  const auto two = random_text(2, 900);
  const auto middle = two.size() / 3;
  write_text(directory_ / "plain/one.txt", one);
  write_text(directory_ / "plain/sub/two.txt", two);
  write_text(directory_ / "packed/one.txt.zst", to_zstd(one.substr(0, 5000)) + to_zstd(one.substr(5000)));
  write_text(directory_ / "packed/sub/two.txt.gz",
             to_gzip(two.substr(0, middle)) + to_gzip("") + to_gzip(two.substr(middle)) + std::string(100, '\0'));
  auto corpus = corpus_of(directory_ / "plain");
  corpus.max_contexts = 30;
  const auto plain = collect_in(corpus, 1);
  corpus.files = {(directory_ / "packed").string()};
  auto packed = collect_in(corpus, 3);
  EXPECT_NE(packed.identity, plain.identity);  // sizes differ
  packed.identity = plain.identity;
  EXPECT_EQ(packed, plain);
  std::filesystem::remove(directory_ / "packed/one.txt.zst");
  write_text(directory_ / "packed/one.txt.bz2",
             to_bzip2(one.substr(0, 7000)) + to_bzip2("") + to_bzip2(one.substr(7000)));
  packed = collect_in(corpus, 2);
  packed.identity = plain.identity;
  EXPECT_EQ(packed, plain);

  write_text(directory_ / "two.txt", two);
  corpus.files = {(directory_ / "plain/one.txt").string(), (directory_ / "two.txt").string()};
  const auto listed = collect_in(corpus, 2);
  std::reverse(corpus.files.begin(), corpus.files.end());
  EXPECT_EQ(collect_in(corpus, 2), listed);
  EXPECT_EQ(listed.words[0].occurrences, plain.words[0].occurrences);
}

TEST_F(CollectTest, EveryOccurrenceIsEquallyLikely) {
  constexpr int lines = 60;
  constexpr int most = 6;
  constexpr int seeds = 3000;
  std::string text;
  for (int i = 0; i < lines / 2; ++i) {
    text += "rose and rose\n";  // two occurrences of one line, too
  }
  write_text(directory_ / "a.txt", text);
  auto corpus = corpus_of(directory_.path());
  corpus.max_contexts = most;
  std::map<std::pair<std::uint64_t, std::size_t>, int> counts;
  for (int seed = 0; seed < seeds; ++seed) {
    const auto sample = collect(corpus, searched, static_cast<std::uint64_t>(seed));
    ASSERT_EQ(sample.words[0].contexts.size(), std::size_t{most});
    for (const auto& context : sample.words[0].contexts) {
      ++counts[{context.line_offset, context.span.begin}];
    }
  }
  ASSERT_EQ(counts.size(), std::size_t{lines});
  // sampling without replacement: the sum times (n - 1) / (n - k) is chi-square with n - 1 degrees of freedom
  constexpr double expected = double{seeds} * most / lines;
  double sum = 0;
  for (const auto& [place, count] : counts) {
    sum += (count - expected) * (count - expected) / expected;
  }
  sum *= (lines - 1.0) / (lines - most);
  EXPECT_GT(sum, 27.2);   // 0.0002 quantile of 59 degrees of freedom
  EXPECT_LT(sum, 105.0);  // 0.9998 quantile
}

TEST_F(CollectTest, ReadsTheFieldOfJsonLines) {
  write_text(directory_ / "a.jsonl",
             "{\"text\": \"A rose\", \"id\": 1}\n"
             "{\"id\": [1, {\"text\": \"rose\"}], \"text\": \"\\u0041 \\\"rose\\\" \\ud83d\\ude42\\nspider\"}\r\n"
             "\n"
             "{\"text\": \"rose\"\n"
             "{\"title\": \"rose\"}\n"
             "{\"text\": \"rose\\u0000\"}\n"
             "[\"rose\"]\n");
  const auto sample = collect(corpus_of(directory_.path()), searched, 1);
  EXPECT_EQ(sample.lines, 7U);
  EXPECT_EQ(sample.words[0].occurrences, 2U);
  ASSERT_EQ(sample.words[2].contexts.size(), 1U);
  EXPECT_EQ(sample.words[2].contexts[0].sentence, "A \"rose\" 🙂\nspider");
  EXPECT_EQ(sample.bad_lines[static_cast<std::size_t>(LineFault::broken_json)].count, 1U);
  EXPECT_EQ(sample.bad_lines[static_cast<std::size_t>(LineFault::no_field)].count, 2U);
  EXPECT_EQ(sample.bad_lines[static_cast<std::size_t>(LineFault::invalid_text)].count, 1U);
}

TEST_F(CollectTest, LeavesBadLinesOutAndNamesTheFirst) {
  const std::string longest(max_line_bytes - 5, '.');
  std::string text = "\xEF\xBB\xBFrose\n";
  text += "rose \xFF rose\nrose" + std::string(1, '\0') + "\nrose\n";  // two are no text
  text += longest + " rose\n" + longest + "x rose\n" + longest + longest + longest + " rose\n";
  for (int i = 0; i < 9; ++i) {
    text += "\xC3 rose\n";
  }
  text += longest + " rose";
  write_text(directory_ / "a.txt", text);
  const auto sample = collect_in(corpus_of(directory_.path()), 1);
  EXPECT_EQ(sample.words[0].occurrences, 4U);
  EXPECT_EQ(sample.bytes, text.size());
  const auto& invalid = sample.bad_lines[static_cast<std::size_t>(LineFault::invalid_text)];
  EXPECT_EQ(invalid.count, 11U);
  ASSERT_EQ(invalid.first.size(), 5U);
  EXPECT_EQ(invalid.first[0], (BadLine{"a.txt", 8}));
  const auto& too_long = sample.bad_lines[static_cast<std::size_t>(LineFault::too_long)];
  EXPECT_EQ(too_long.count, 2U);
  for (const auto& word : sample.words) {
    for (const auto& context : word.contexts) {
      EXPECT_LE(context.sentence.size(), max_sentence_bytes);
      EXPECT_EQ(context.sentence.substr(context.span.begin, context.span.end - context.span.begin), "rose");
    }
  }
  for (std::uint64_t shards = 2; shards <= 7; ++shards) {
    EXPECT_EQ(collect_in(corpus_of(directory_.path()), shards), sample) << shards;
  }
}

TEST_F(CollectTest, TakesOnlyTheFirstOfALineByThePublishedRule) {
  write_text(directory_ / "a.txt", "a rose is a rose is a rose\nrose rose rose\n");
  auto corpus = corpus_of(directory_.path());
  corpus.boundary = Corpus::Boundary::blanks;
  const auto sample = collect(corpus, searched, 1);
  EXPECT_EQ(sample.words[0].occurrences, 2U);
  ASSERT_EQ(sample.words[0].contexts.size(), 2U);
  for (const auto& context : sample.words[0].contexts) {
    EXPECT_EQ(context.span, (context.line_offset == 0 ? base::Span{2, 6} : base::Span{5, 9}));
  }
}

TEST_F(CollectTest, RefusesTruncatedAndBrokenFiles) {
  const auto text = random_text(5, 300);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.txt.gz", to_gzip(text)}, {"a.txt.bz2", to_bzip2(text)}, {"a.txt.zst", to_zstd(text)}};
  for (const auto& [name, stored] : files) {
    const auto path = directory_ / name;
    for (std::size_t size = 6; size < stored.size(); size += 41) {
      write_text(path, stored.substr(0, size));
      try {
        collect(corpus_of(path), searched, 1);
        FAIL() << name << " cut at " << size;
      } catch (const base::InputError& error) {
        EXPECT_THAT(error.what(),
                    ::testing::AllOf(::testing::HasSubstr(name),
                                     ::testing::HasSubstr("end too early at byte " + std::to_string(size))));
      }
    }
    write_text(path, stored + "something else");
    EXPECT_THROW(collect(corpus_of(path), searched, 1), base::InputError);
    auto broken = stored;
    broken[broken.size() / 2] = static_cast<char>(broken[broken.size() / 2] ^ 0x55);
    broken[broken.size() / 2 + 1] = static_cast<char>(~broken[broken.size() / 2 + 1]);
    write_text(path, broken);
    if (name != "a.txt.zst") {  // their checksums see every change; that of zstd is optional
      EXPECT_THROW(collect(corpus_of(path), searched, 1), base::InputError);
    }
  }
}

// A frame of RFC 8878 with one raw block, which was packed with a window of 2^`window_log` bytes.
std::string zstd_frame(unsigned window_log, const std::string& content) {
  const auto block = static_cast<unsigned>(content.size() << 3U) | 1U;
  std::string frame = "\x28\xB5\x2F\xFD";
  for (const auto byte : {0U, (window_log - 10U) << 3U, block & 0xFFU, (block >> 8U) & 0xFFU, block >> 16U}) {
    frame.push_back(static_cast<char>(byte));
  }
  return frame + content;
}

TEST_F(CollectTest, ReadsTheLongestWindowOfZstd) {
  write_text(directory_ / "a.txt.zst", zstd_frame(31, "a rose\n"));
  EXPECT_EQ(collect(corpus_of(directory_ / "a.txt.zst"), searched, 1).words[0].occurrences, 1U);
  write_text(directory_ / "a.txt.zst", zstd_frame(32, "a rose\n"));
  EXPECT_THROW(collect(corpus_of(directory_ / "a.txt.zst"), searched, 1), base::InputError);
}

// Memory that the process has mapped, in bytes.
std::size_t mapped_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(CollectTest, MemoryDoesNotGrowWithWhatAFileUnpacksTo) {
  constexpr std::size_t line = std::size_t{100} << 20;
  std::size_t size = 0;
  const auto text = std::string(line, 'x') + "\nrose\n";
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.txt.gz", to_gzip(text)}, {"b.txt.zst", to_zstd(text)}, {"c.txt.bz2", to_bzip2(text)}};
  for (const auto& [name, stored] : files) {
    write_text(directory_ / name, stored);
    ASSERT_LT(std::filesystem::file_size(directory_ / name), line / 500);
    size += text.size();
  }
  const auto before = mapped_bytes();
  std::size_t most = 0;
  const auto sample = collect(corpus_of(directory_.path()), searched, 1, {},
                              [&](const Progress&) { most = std::max(most, mapped_bytes()); });
  EXPECT_EQ(sample.words[0].occurrences, 3U);
  EXPECT_EQ(sample.bytes, size);
  EXPECT_EQ(sample.bad_lines[static_cast<std::size_t>(LineFault::too_long)].count, 3U);
  ASSERT_GT(most, 0U);
  EXPECT_THROW(collect(corpus_of(directory_ / "b.txt.zst"), searched, 1, {},
                       [&](const Progress& progress) {
                         EXPECT_LT(progress.bytes_read, line / 2);
                         throw base::Error("stopped within the long line");
                       }),
               base::Error);
  EXPECT_LT(most, before + (std::size_t{20} << 20));
}

std::string refusal_of(const Corpus& corpus) {
  try {
    collect(corpus, searched, 1);
    return "none";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

TEST_F(CollectTest, RefusesFilesThatCannotBeNamedOrRead) {
  write_text(directory_ / "a.txt", "rose");
  write_text(directory_ / "a.txt.gz", to_gzip("rose"));
  EXPECT_THAT(refusal_of(corpus_of(directory_.path())), ::testing::HasSubstr("'a.txt'"));
  EXPECT_THAT(refusal_of(corpus_of(directory_ / "absent")), ::testing::HasSubstr("absent"));
  write_text(directory_ / "packed/b.xz",
             "\xFD"
             "7zXZ");
  write_text(directory_ / "packed/c.gz", "plain");
  EXPECT_THAT(refusal_of(corpus_of(directory_ / "packed")),
              ::testing::AllOf(::testing::HasSubstr("compressed with xz"),
                               ::testing::HasSubstr("c.gz is not what its name says")));
  auto twice = corpus_of(directory_ / "a.txt");
  std::filesystem::create_symlink(directory_ / "a.txt", directory_ / "link.txt");
  twice.files.push_back((directory_ / "link.txt").string());
  EXPECT_THAT(refusal_of(twice), ::testing::HasSubstr("read twice"));
  write_text(directory_ / "dots/.hidden", "rose");
  EXPECT_THAT(refusal_of(corpus_of(directory_ / "dots")), ::testing::HasSubstr("no file"));
}

TEST_F(CollectTest, SaysHowFarItIsAndCanBeStopped) {
  write_text(directory_ / "a.txt", random_text(1, 600000));
  const auto size = std::filesystem::file_size(directory_ / "a.txt");
  ASSERT_GT(size, 10U << 20);
  std::uint64_t last = 0;
  collect(corpus_of(directory_.path()), searched, 1, {}, [&](const Progress& progress) {
    EXPECT_EQ(progress.bytes_total, size);
    EXPECT_EQ(progress.bytes_done, std::min(progress.bytes_read, size));
    EXPECT_GT(progress.bytes_done, last);
    last = progress.bytes_done;
  });
  EXPECT_GT(last, 0U);
  EXPECT_THROW(
      collect(corpus_of(directory_.path()), searched, 1, {}, [](const Progress&) { throw base::Error("stop"); }),
      base::Error);
}

TEST_F(CollectTest, IdentityTellsRequestsApart) {
  write_text(directory_ / "a.txt", "rose");
  auto corpus = corpus_of(directory_.path());
  const auto identity_of = [&](std::span<const std::string> words, std::uint64_t seed) {
    return collect(corpus, words, seed).identity;
  };
  const auto identity = identity_of(searched, 1);
  EXPECT_NE(identity_of(searched, 2), identity);
  EXPECT_NE(identity_of(std::vector<std::string>{"rose"}, 1), identity);
  corpus.files = {directory_.path().string() + "/"};
  EXPECT_EQ(identity_of(searched, 1), identity);
  corpus.max_contexts = 5;
  EXPECT_NE(identity_of(searched, 1), identity);
  corpus = corpus_of(directory_.path());
  write_text(directory_ / "a.txt", "roses");
  EXPECT_NE(identity_of(searched, 1), identity);
}

// Old Macintosh files: the same sentences, and the same sample, as with line feeds.
TEST_F(CollectTest, TakesCarriageReturnsForLineEndsWhereThereAreNoOthers) {
  auto text = random_text(8, 3000);
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  write_text(directory_ / "feeds/a.txt", text);
  std::replace(text.begin(), text.end(), '\n', '\r');
  write_text(directory_ / "returns/a.txt", text);
  auto corpus = corpus_of(directory_ / "feeds");
  corpus.max_contexts = 50;
  const auto expected = collect_in(corpus, 1);
  EXPECT_GT(expected.words[0].occurrences, 500U);
  corpus.files = {(directory_ / "returns").string()};
  for (std::uint64_t shards = 1; shards <= 5; ++shards) {
    EXPECT_EQ(collect_in(corpus, shards), expected) << shards;
  }
  std::filesystem::remove(directory_ / "returns/a.txt");
  write_text(directory_ / "returns/a.txt.gz", to_gzip(text));
  auto packed = collect_in(corpus, 2);
  packed.identity = expected.identity;
  EXPECT_EQ(packed, expected);
  write_text(directory_ / "mixed/a.txt", "a rose\rand a spider\nrose\n");  // one return among line feeds ends no line
  const auto mixed = collect(corpus_of(directory_ / "mixed"), searched, 1);
  EXPECT_EQ(mixed.lines, 2U);
  EXPECT_EQ(mixed.words[2].contexts.front().sentence, "a rose\rand a spider");
}

class CauseTest : public CollectTest {
 protected:
  std::string cause(const std::string& name, std::string_view content, LineFault fault,
                    const std::string& field = "text") {
    write_text(directory_ / name, content);
    auto corpus = corpus_of(directory_ / name);
    corpus.field = field;
    const auto sample = collect(corpus, searched, 1);
    EXPECT_GT(sample.bad_lines[static_cast<std::size_t>(fault)].count, 0U) << name;
    return base::join(remarks_on_bad_lines(sample, corpus), "\n");
  }
  static std::string utf16(std::string_view text, bool is_big) {
    std::string wide;
    for (const char c : text) {
      wide += is_big ? std::string{'\0', c} : std::string{c, '\0'};
    }
    return wide;
  }
};

TEST_F(CauseTest, NamesTheEncoding) {
  using ::testing::HasSubstr;
  const std::string text = "A rose.\nA spider beside a rose.\n";
  EXPECT_THAT(cause("a.txt", "\xFF\xFE" + utf16(text, false), LineFault::invalid_text),
              HasSubstr("a.txt looks like UTF-16: convert it with iconv -f UTF-16 -t UTF-8 a.txt"));
  EXPECT_THAT(cause("b.txt", "\xFE\xFF" + utf16(text, true), LineFault::invalid_text), HasSubstr("-f UTF-16 "));
  EXPECT_THAT(cause("c.txt", utf16(text, false), LineFault::invalid_text), HasSubstr("-f UTF-16LE "));
  EXPECT_THAT(cause("d.txt", utf16(text, true), LineFault::invalid_text), HasSubstr("-f UTF-16BE "));
  EXPECT_THAT(cause("e.txt.gz", to_gzip(utf16(text, false)), LineFault::invalid_text),
              HasSubstr("e.txt looks like UTF-16"));
  EXPECT_THAT(cause("f.txt", "A rose.\nA ros\xE9.\n", LineFault::invalid_text),
              HasSubstr("perhaps in CP1252: convert it with iconv -f CP1252 -t UTF-8 f.txt"));
  std::string one_of_many = "A ros\xE9.\n";
  for (int i = 0; i < 2000; ++i) {
    one_of_many += "A rose.\n";
  }
  EXPECT_EQ(cause("g.txt", one_of_many, LineFault::invalid_text),
            "1 line left out (not valid UTF-8, or with a NUL): g.txt at byte 0");
}

TEST_F(CauseTest, NamesTheFieldInsideAnotherObject) {
  using ::testing::HasSubstr;
  const std::string line = "{\"id\": 1, \"title\": \"x\", \"data\": {\"text\": \"A rose\"}}\n";
  EXPECT_THAT(cause("a.jsonl", line, LineFault::no_field), HasSubstr("field: data.text, field: title"));
  EXPECT_THAT(cause("b.jsonl", "{\"title\": \"x\"}\n", LineFault::no_field), HasSubstr("are field: title"));
  for (const std::string other : {"{\"id\": 1}", "\"text\"", "[\"text\"]", "7",
                                  "{\"messages\": [{\"text\": \"a rose\"}]}", "{}", "{\"id\": 1, \"id\": 2}"}) {
    EXPECT_THAT(cause("c.jsonl", other + "\n", LineFault::no_field), HasSubstr("no text outside of lists")) << other;
  }
}

TEST_F(CollectTest, ReadsAFieldInsideAnotherObject) {
  write_text(directory_ / "a.jsonl",
             "{\"data\": {\"n\": 1, \"text\": \"a rose\"}, \"text\": \"spider\"}\n"
             "{\"data.text\": \"a rose\"}\n"
             "{\"data\": {\"text\": {\"text\": \"rose\"}}}\n"
             "{\"data\": \"rose\"}\n");
  auto corpus = corpus_of(directory_.path());
  corpus.field = "data.text";
  const auto sample = collect(corpus, searched, 1);
  EXPECT_EQ(sample.words[0].occurrences, 2U);
  EXPECT_EQ(sample.words[2].occurrences, 0U);
  EXPECT_EQ(sample.bad_lines[static_cast<std::size_t>(LineFault::no_field)].count, 2U);
}

TEST_F(CollectTest, FindsAWordWhateverItsUnicodeFormAndKeepsTheSentence) {
  const std::string composed = "A caf\xC3\xA9 here.";
  const std::string decomposed = "A cafe\xCC\x81 here.";
  const std::string hyphenated = "A ca\xC2\xAD\x66\xC3\xA9 here.";
  write_text(directory_ / "a.txt", composed + "\n" + decomposed + "\n" + hyphenated + "\nA cafe here.\n");
  write_text(directory_ / "a.jsonl", "{\"text\": \"A cafe\\u0301 here.\"}\n");
  for (const std::string word : {"caf\xC3\xA9", "cafe\xCC\x81"}) {
    const auto sample = collect(corpus_of(directory_.path()), std::vector<std::string>{word, "cafe"}, 1);
    EXPECT_EQ(sample.words[0].occurrences, 4U);
    EXPECT_EQ(sample.words[1].occurrences, 1U);
    std::vector<std::string> found;
    for (const auto& context : sample.words[0].contexts) {
      found.push_back(context.sentence);
      EXPECT_EQ(context.sentence.substr(0, context.span.begin), "A ");
      EXPECT_EQ(context.sentence.substr(context.span.end), " here.");
    }
    EXPECT_THAT(found, ::testing::UnorderedElementsAre(composed, decomposed, decomposed, hyphenated));
  }
}

}  // namespace
}  // namespace stereosweep::corpus
