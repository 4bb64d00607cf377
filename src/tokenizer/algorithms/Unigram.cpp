// Unigram (kudo2018): of all ways to spell a text, the one with the largest sum of scores (Viterbi).
#include <algorithm>
#include <limits>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/algorithms/ByteTrie.hpp"
#include "tokenizer/algorithms/Model.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr double unknown_penalty = 10;  // below the worst piece

/// How sums of scores are kept: near ties are decided by it.
enum class Precision : std::uint8_t { float32, float64 };

struct Settings {
  std::vector<std::string> texts;  // [id]
  std::vector<double> scores;      // [id]
  std::vector<bool> plain;         // [id] texts are split into it
  double lowest = 0;               ///< score of a piece
  std::optional<TokenId> unknown;
  bool byte_fallback = false;
  Precision precision = Precision::float64;
};

class Unigram final : public Model {
 public:
  explicit Unigram(Settings settings)
      : Model(Vocabulary(settings.texts)), settings_(std::move(settings)), bytes_(vocabulary()) {
    std::vector<std::pair<std::string_view, std::int32_t>> texts;
    for (std::size_t id = 0; id < settings_.texts.size(); ++id) {
      if (settings_.plain[id]) {
        texts.emplace_back(settings_.texts[id], static_cast<std::int32_t>(id));
      }
    }
    trie_ = ByteTrie(std::move(texts));
    if (settings_.unknown) {
      traits_.unknown_token = settings_.texts[static_cast<std::size_t>(*settings_.unknown)];
    }
    traits_.unknown_keeps_text = settings_.unknown;
    settings_.texts.clear();
  }

  void tokenize(std::string_view piece, std::vector<PieceToken>& tokens) const override {
    const auto best = find_best(piece);
    std::vector<std::size_t> ends;
    for (auto end = piece.size(); end > 0; end = best[end].begin) {
      ends.push_back(end);
    }
    bool fuses = false;  // the token before is unknown
    std::reverse(ends.begin(), ends.end());
    for (const auto end : ends) {
      const auto& [id, score, begin] = best[end];
      const auto length = static_cast<std::uint32_t>(end - begin);
      const bool is_unknown = settings_.unknown && id == *settings_.unknown;
      if (is_unknown && settings_.byte_fallback) {
        bytes_.spell(piece.substr(begin, length), tokens);
      } else if (is_unknown && fuses) {
        tokens.back().length += length;
      } else {
        tokens.push_back({id, length});
      }
      fuses = is_unknown;
    }
  }

 private:
  static constexpr auto nowhere = std::numeric_limits<std::size_t>::max();
  /// The best way to spell the text up to a byte: its last piece and the sum of its scores.
  struct Step {
    TokenId id = 0;
    double score = 0;
    std::size_t begin = nowhere;
  };

  void offer(Step& step, TokenId id, double score, std::size_t begin) const {
    const auto kept = rounded(score);
    if (step.begin == nowhere || kept > step.score) {
      step = {id, kept, begin};
    }
  }

  double rounded(double score) const {
    return settings_.precision == Precision::float32 ? static_cast<double>(static_cast<float>(score)) : score;
  }

  std::vector<Step> find_best(std::string_view piece) const {
    std::vector<Step> best(piece.size() + 1);  // [byte]
    for (std::size_t begin = 0; begin < piece.size();) {
      const auto so_far = best[begin].score;
      auto next = begin;
      next_character(piece, next);
      bool has_single = false;
      trie_.visit_prefixes(piece.substr(begin), [&](std::size_t length, std::int32_t number) {
        const auto id = static_cast<std::size_t>(number);
        offer(best[begin + length], number, settings_.scores[id] + so_far, begin);
        has_single = has_single || length == next - begin;
      });
      if (!has_single) {
        if (!settings_.unknown) {
          base::refuse("the text has a character without token", "the tokenizer's Unigram model has no unk_id");
        }
        offer(best[next], *settings_.unknown, unknown_score() + so_far, begin);
      }
      begin = next;
    }
    return best;
  }

  double unknown_score() const { return rounded(settings_.lowest - unknown_penalty); }

  Settings settings_;
  ByteTokens bytes_;
  ByteTrie trie_;
};

}  // namespace

std::unique_ptr<Model> make_unigram(const Field& field) {
  if (field.flag_or("byte_fallback", false)) {
    field.at("byte_fallback").refuse("true", "bytes are supported in BPE models only");
  }
  Settings settings;
  settings.lowest = std::numeric_limits<double>::infinity();
  TextMap<bool> seen;
  for (const auto& item : field.at("vocab").items()) {
    const auto parts = item.items();
    item.refuse_if(parts.size() != 2 || !parts[1].json().is_number(), "no pair of token and score",
                   "the vocabulary is a list of these");
    const auto text = parts[0].text();
    if (!seen.emplace(text, true).second) {
      parts[0].refuse(base::json_quote(text) + " is there twice", "a token has one id");
    }
    settings.texts.push_back(text);
    settings.plain.push_back(!text.empty());
    settings.scores.push_back(parts[1].json().get<double>());
    settings.lowest = std::min(settings.lowest, settings.scores.back());
  }
  if (const auto unknown = field.find("unk_id")) {
    const auto id = unknown->number();
    unknown->refuse_if(id >= settings.texts.size(), std::to_string(id),
                       "the vocabulary ends at " + std::to_string(settings.texts.size()) + " tokens");
    settings.unknown = static_cast<TokenId>(id);
  }
  return std::make_unique<Unigram>(std::move(settings));
}

std::unique_ptr<Model> make_piece_unigram(const PieceFile& file) {
  Settings settings;
  settings.precision = Precision::float32;
  settings.unknown = static_cast<TokenId>(file.unknown);
  settings.byte_fallback = file.byte_fallback;
  settings.lowest = std::numeric_limits<float>::max();
  for (const auto& piece : file.pieces) {
    settings.texts.push_back(piece.text);
    settings.scores.push_back(static_cast<double>(piece.score));
    settings.plain.push_back(piece.is_plain() && piece.kind != Piece::Kind::unused);
    if (piece.kind == Piece::Kind::normal) {
      settings.lowest = std::min(settings.lowest, settings.scores.back());
    }
  }
  return std::make_unique<Unigram>(std::move(settings));
}

}  // namespace stereosweep::tokenizer
