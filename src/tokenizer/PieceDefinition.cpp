// Directories with tokenizer.model alone.
#include <array>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "tokenizer/Definition.hpp"
#include "tokenizer/PieceNormalizer.hpp"
#include "tokenizer/TokenizerConfig.hpp"

namespace stereosweep::tokenizer {
namespace {

using base::Json;

constexpr auto file_name = "tokenizer.model";

// The families whose tokenizer puts its BOS before every text unless it is told otherwise.
bool begins_texts(const TokenizerConfig& config) {
  constexpr std::array<const char*, 6> families = {"llama", "mistral", "mixtral", "gemma", "gemma2", "gemma3_text"};
  constexpr std::array<const char*, 2> classes = {"Llama", "Gemma"};
  const auto type = config.model_type();
  const auto kind = config.field().text_or("tokenizer_class", "");
  for (const auto* family : families) {
    if (type == family) {
      return true;
    }
  }
  for (const auto* name : classes) {
    if (kind.starts_with(name)) {
      return true;
    }
  }
  const auto named = [](const std::string& value) { return value.empty() ? "missing" : base::json_quote(value); };
  config.field().refuse("\"add_bos_token\" is missing", "neither \"tokenizer_class\" (" + named(kind) +
                                                            ") nor \"model_type\" of config.json (" + named(type) +
                                                            ") tells whether a token stands before every text");
}

Json wrap(const TokenizerConfig& config, const PieceFile& pieces, const Vocabulary& vocabulary) {
  const auto settings = config.field();
  Json single = Json::array();
  Json tokens = Json::object();
  const auto put = [&](const std::string& token) {
    const auto id = vocabulary.find(token);
    if (!id) {
      settings.refuse(base::json_quote(token) + " is no piece of " + file_name, "it is put around every text");
    }
    single.push_back({{"SpecialToken", {{"id", token}, {"type_id", 0U}}}});
    tokens[token] = {{"id", token}, {"ids", Json::array({static_cast<std::uint64_t>(*id)})}};
  };
  const bool begins = settings.find("add_bos_token") ? settings.at("add_bos_token").flag() : begins_texts(config);
  if (begins) {
    put(config.token("bos_token", pieces.begin));
  }
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0U}}}});
  if (settings.flag_or("add_eos_token", false)) {
    put(config.token("eos_token", pieces.end));
  }
  return {{"type", "TemplateProcessing"}, {"single", single}, {"special_tokens", tokens}};
}

Json decoder(const PieceFile& pieces) {
  Json steps = Json::array();
  steps.push_back({{"type", "Replace"}, {"pattern", {{"String", space_mark}}}, {"content", " "}});
  steps.push_back({{"type", "ByteFallback"}});
  steps.push_back({{"type", "Fuse"}});
  if (pieces.adds_mark && pieces.marks == PieceFile::Marks::before) {
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1U}, {"stop", 0U}});
  }
  return {{"type", "Sequence"}, {"decoders", steps}};
}

}  // namespace

Definition read_piece_definition(const base::FileSet& files) {
  Definition made;
  made.file = files.directory() + "/" + file_name;
  auto& pieces = made.pieces.emplace(read_piece_file(files.at(file_name).text(), made.file));
  TokenizerConfig config(files);
  pieces.adds_mark = config.field().flag_or("add_prefix_space", pieces.adds_mark);
  std::vector<std::string> texts;
  for (const auto& piece : pieces.pieces) {
    texts.push_back(piece.text);
    if (piece.kind == Piece::Kind::control || piece.kind == Piece::Kind::unknown) {
      config.add_token(make_added_token(piece.text, AddedKind::special));
    }
  }
  const Vocabulary vocabulary(texts);
  auto added = config.added_tokens(vocabulary);
  for (auto& token : added) {
    token["normalized"] = false;  // SentencePiece never sees them
  }
  made.document = {{"added_tokens", std::move(added)},
                   {"post_processor", wrap(config, pieces, vocabulary)},
                   {"decoder", decoder(pieces)}};
  return made;
}

}  // namespace stereosweep::tokenizer
