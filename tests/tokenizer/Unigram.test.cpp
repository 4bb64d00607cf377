// Viterbi against the best of all ways to spell a text.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <random>

#include "base/Error.hpp"
#include "tokenizer/algorithms/Model.hpp"

namespace stereosweep::tokenizer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// The largest sum of scores over all ways to spell `text` with pieces and, for letters that are no piece, as unknown.
double best_score(const std::vector<std::pair<std::string, double>>& pieces, double unknown, const std::string& text) {
  if (text.empty()) {
    return 0;
  }
  double best = -std::numeric_limits<double>::infinity();
  bool single = false;
  for (std::size_t id = 1; id < pieces.size(); ++id) {
    const auto& [piece, score] = pieces[id];
    if (text.starts_with(piece)) {
      single = single || piece.size() == 1;
      best = std::max(best, score + best_score(pieces, unknown, text.substr(piece.size())));
    }
  }
  return single ? best : std::max(best, unknown + best_score(pieces, unknown, text.substr(1)));
}

TEST(Unigram, TakesTheBestOfAllSpellings) {
  std::mt19937 random(20220710);
  std::vector<std::pair<std::string, double>> pieces = {{"<unk>", 0}};
  auto vocab = base::Json::array({base::Json::array({"<unk>", 0.0})});
  double lowest = 0;
  for (const auto* text : {"a", "b", "ab", "ba", "aab", "abab", "bb", "c", "cab", "abc"}) {
    const auto score = -1 - static_cast<double>(random() % 100'000) / 9'973;
    pieces.emplace_back(text, score);
    vocab.push_back(base::Json::array({text, score}));
    lowest = std::min(lowest, score);
  }
  const base::Json document = {{"type", "Unigram"}, {"unk_id", 0U}, {"vocab", vocab}};
  const std::string file = "x";
  const auto model = read_model(base::JsonValue(document, file));
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (auto length = random() % 9 + 1; length > 0; --length) {
      text += "abcd"[random() % 4];
    }
    std::vector<PieceToken> tokens;
    model->tokenize(text, tokens);
    double score = 0;
    std::size_t done = 0;
    for (const auto& [id, length] : tokens) {
      if (id == 0) {  // unknown neighbours are one token
        score += length * (lowest - 10);
      } else {
        EXPECT_EQ(text.substr(done, length), pieces[static_cast<std::size_t>(id)].first);
        score += pieces[static_cast<std::size_t>(id)].second;
      }
      done += length;
    }
    EXPECT_EQ(done, text.size());
    EXPECT_NEAR(score, best_score(pieces, lowest - 10, text), 1e-9) << text;
  }
}

TEST(Unigram, NamesWhatIsMalformed) {
  const std::string file = "x";
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"type": "Unigram", "vocab": [["a"]]})", "vocab[0]: no pair"},
      {R"({"type": "Unigram", "vocab": [["a", "b"]]})", "vocab[0]: no pair"},
      {R"({"type": "Unigram", "vocab": [["a", 0], ["a", 1]]})", "\"a\" is there twice"},
      {R"({"type": "Unigram", "unk_id": 1, "vocab": [["a", 0]]})", "unk_id"},
      {R"({"type": "Unigram", "byte_fallback": true, "vocab": []})", "byte_fallback"},
  };
  for (const auto& [text, message] : cases) {
    const auto document = base::Json::parse(text);
    EXPECT_THAT([&] { read_model(base::JsonValue(document, file)); },
                ThrowsMessage<base::InputError>(HasSubstr(message)));
  }
  const auto document = base::Json::parse(R"({"type": "Unigram", "vocab": [["a", 0]]})");
  std::vector<PieceToken> tokens;
  EXPECT_THAT([&] { read_model(base::JsonValue(document, file))->tokenize("b", tokens); },
              ThrowsMessage<base::InputError>(HasSubstr("unk_id")));
}

}  // namespace
}  // namespace stereosweep::tokenizer
