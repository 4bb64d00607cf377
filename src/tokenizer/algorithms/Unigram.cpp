// Unigram (kudo2018): of all ways to spell a text, the one with the largest sum of scores (Viterbi).
#include <algorithm>
#include <limits>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/algorithms/Model.hpp"
#include "tokenizer/algorithms/PrefixTable.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr double unknown_penalty = 10;  // below the worst piece

/// How sums of scores are kept: near ties are decided by it.
enum class Precision : std::uint8_t { float32, float64 };

class Unigram final : public Model {
 public:
  /// Of the file the pieces count, and whether what is unknown is spelled in bytes.
  Unigram(const PieceFile& file, std::optional<TokenId> unknown, Precision precision)
      : Model(Vocabulary(file.texts())),
        unknown_(unknown),
        spells_bytes_(file.byte_fallback),
        precision_(precision),
        bytes_(vocabulary()) {
    std::vector<std::pair<std::string_view, std::int32_t>> pieces;
    for (const auto& piece : file.pieces) {
      if (piece.is_plain() && piece.kind != Piece::Kind::unused && !piece.text.empty()) {
        pieces.emplace_back(piece.text, static_cast<std::int32_t>(scores_.size()));
      }
      scores_.push_back(piece.score);
      lowest_ = piece.kind == Piece::Kind::normal ? std::min(lowest_, piece.score) : lowest_;
    }
    texts_ = PrefixTable(pieces);
    if (unknown) {
      traits_.unknown_token = file.pieces[static_cast<std::size_t>(*unknown)].text;
    }
    traits_.unknown_keeps_text = unknown;
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
      const bool is_unknown = id == unknown_;
      if (is_unknown && spells_bytes_) {
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
    return precision_ == Precision::float32 ? static_cast<double>(static_cast<float>(score)) : score;
  }

  std::vector<Step> find_best(std::string_view piece) const {
    std::vector<Step> best(piece.size() + 1);  // [byte]
    for (std::size_t begin = 0; begin < piece.size();) {
      const auto so_far = best[begin].score;
      auto next = begin;
      next_character(piece, next);
      bool has_single = false;
      texts_.visit_prefixes(piece.substr(begin), [&](std::size_t length, std::int32_t number) {
        const auto id = static_cast<std::size_t>(number);
        offer(best[begin + length], number, scores_[id] + so_far, begin);
        has_single = has_single || length == next - begin;
      });
      if (!has_single) {
        if (!unknown_) {
          base::refuse("the text has a character without token", "the tokenizer's Unigram model has no unk_id");
        }
        offer(best[next], *unknown_, unknown_score() + so_far, begin);
      }
      begin = next;
    }
    return best;
  }

  double unknown_score() const { return rounded(lowest_ - unknown_penalty); }

  std::optional<TokenId> unknown_;
  bool spells_bytes_;
  Precision precision_;
  std::vector<double> scores_;                               // [id]
  double lowest_ = std::numeric_limits<double>::infinity();  // score of a piece
  ByteTokens bytes_;
  PrefixTable texts_;
};

}  // namespace

std::unique_ptr<Model> make_unigram(const base::JsonValue& field) {
  if (field["byte_fallback"].flag_or(false)) {
    field["byte_fallback"].refuse("true", "bytes are supported in BPE models only");
  }
  PieceFile file;
  TextMap<bool> seen;
  for (const auto& item : field["vocab"].items()) {
    const auto parts = item.items();
    item.refuse_if(parts.size() != 2 || !parts[1].json().is_number(), "no pair of token and score",
                   "the vocabulary is a list of these");
    const auto text = parts[0].text();
    if (!seen.emplace(text, true).second) {
      parts[0].refuse(base::json_quote(text) + " is there twice", "a token has one id");
    }
    file.pieces.push_back({text, parts[1].json().get<double>()});
  }
  std::optional<TokenId> unknown_id;
  if (const auto unknown = field["unk_id"]) {
    const auto id = unknown.whole<std::size_t>();
    unknown.refuse_if(id >= file.pieces.size(), std::to_string(id),
                      "the vocabulary ends at " + std::to_string(file.pieces.size()) + " tokens");
    unknown_id = static_cast<TokenId>(id);
  }
  return std::make_unique<Unigram>(file, unknown_id, Precision::float64);
}

std::unique_ptr<Model> make_piece_unigram(const PieceFile& file) {
  return std::make_unique<Unigram>(file, static_cast<TokenId>(file.unknown), Precision::float32);
}

}  // namespace stereosweep::tokenizer
