// Longest match first, from the left; a word that cannot be spelled to its end is one unknown token.
#include "base/Text.hpp"
#include "tokenizer/Model.hpp"
#include "tokenizer/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

class WordPiece final : public Model {
 public:
  explicit WordPiece(const Field& field)
      : Model(Vocabulary(field.at("vocab"))),
        unknown_(field.text_or("unk_token", "[UNK]")),
        prefix_(field.text_or("continuing_subword_prefix", "##")) {
    if (const auto most = field.find("max_input_chars_per_word")) {
      max_characters_ = most->number();
    }
    const auto id = vocabulary().find(unknown_);
    if (!id) {
      field.refuse("the unknown token " + base::json_quote(unknown_) + " is not in \"vocab\"",
                   "words that cannot be spelled need it");
    }
    unknown_id_ = *id;
  }

  void tokenize(std::string_view piece, std::vector<PieceToken>& tokens) const override {
    const auto before = tokens.size();
    if (count_characters(piece) <= max_characters_ && spell(piece, tokens)) {
      return;
    }
    tokens.resize(before);
    tokens.push_back({unknown_id_, static_cast<std::uint32_t>(piece.size())});
  }
  std::optional<std::string> unknown_token() const override { return unknown_; }
  std::optional<std::string> continuation_prefix() const override { return prefix_; }

 private:
  bool spell(std::string_view piece, std::vector<PieceToken>& tokens) const {
    std::string candidate;
    for (std::size_t begin = 0; begin < piece.size();) {
      candidate.assign(begin > 0 ? prefix_ : std::string());
      const auto prefix = candidate.size();
      candidate.append(piece.substr(begin, vocabulary().longest_token()));
      std::optional<TokenId> id;
      while (candidate.size() > prefix && !(id = vocabulary().find(candidate))) {
        candidate.resize(previous_character(candidate, candidate.size()));
      }
      if (!id || candidate.size() <= prefix) {
        return false;
      }
      tokens.push_back({*id, static_cast<std::uint32_t>(candidate.size() - prefix)});
      begin += candidate.size() - prefix;
    }
    return true;
  }

  std::string unknown_;
  std::string prefix_;
  std::size_t max_characters_ = 100;
  TokenId unknown_id_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_word_piece(const Field& field) { return std::make_unique<WordPiece>(field); }

}  // namespace stereosweep::tokenizer
