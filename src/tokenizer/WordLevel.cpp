// A piece is a token or unknown.
#include "base/Error.hpp"
#include "base/Text.hpp"
#include "tokenizer/Model.hpp"

namespace stereosweep::tokenizer {
namespace {

class WordLevel final : public Model {
 public:
  explicit WordLevel(const Field& field)
      : Model(Vocabulary(field.at("vocab"))), unknown_(field.text_or("unk_token", "<unk>")) {}

  void tokenize(std::string_view piece, std::vector<PieceToken>& tokens) const override {
    auto id = vocabulary().find(piece);
    if (!id && !(id = vocabulary().find(unknown_))) {
      throw base::InputError(
          base::describe("the text has a word without token",
                         "the tokenizer's unk_token " + base::json_quote(unknown_) + " is not in its vocabulary"));
    }
    tokens.push_back({*id, static_cast<std::uint32_t>(piece.size())});
  }
  std::optional<std::string> unknown_token() const override { return unknown_; }
  std::optional<std::string> continuation_prefix() const override { return std::nullopt; }

 private:
  std::string unknown_;
};

}  // namespace

std::unique_ptr<Model> make_word_level(const Field& field) { return std::make_unique<WordLevel>(field); }

}  // namespace stereosweep::tokenizer
