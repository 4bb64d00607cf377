#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text/Text.hpp"
#include "tokenizer/Kinds.hpp"
#include "tokenizer/stages/Stages.hpp"
#include "tokenizer/unicode/AlignedText.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

// The spaces that BERT's decoder takes out again.
std::string clean_up(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> changes = {{{" .", "."},
                                                                                      {" ?", "?"},
                                                                                      {" !", "!"},
                                                                                      {" ,", ","},
                                                                                      {" ' ", "'"},
                                                                                      {" n't", "n't"},
                                                                                      {" 'm", "'m"},
                                                                                      {" do not", " don't"},
                                                                                      {" 's", "'s"},
                                                                                      {" 've", "'ve"},
                                                                                      {" 're", "'re"}}};
  for (const auto& [from, to] : changes) {
    text = base::replace_all(std::move(text), from, to);
  }
  return text;
}

Decoder read_word_piece(const base::JsonValue& field) {
  const auto prefix = field["prefix"].text_or("##");
  const bool cleans = field["cleanup"].flag_or(true);
  return [prefix, cleans](std::vector<std::string>& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i].starts_with(prefix)) {
        tokens[i].erase(0, prefix.size());
      } else if (i > 0) {
        tokens[i].insert(0, " ");
      }
      if (cleans) {
        tokens[i] = clean_up(std::move(tokens[i]));
      }
    }
  };
}

// Tokens that are not wholly in the byte alphabet (added ones) stand for their own bytes.
void decode_bytes(std::vector<std::string>& tokens) {
  std::string bytes;
  for (const auto& token : tokens) {
    std::string decoded;
    for (std::size_t i = 0; i < token.size();) {
      const auto byte = character_byte(next_character(token, i));
      if (!byte) {
        decoded = token;
        break;
      }
      decoded += static_cast<char>(*byte);
    }
    bytes += decoded;
  }
  tokens = {to_valid_utf8(bytes)};
}

Decoder read_byte_pairs(const base::JsonValue& field) {
  return [suffix = field["suffix"].text_or("</w>")](std::vector<std::string>& tokens) {
    for (auto& token : tokens) {
      token = base::replace_all(std::move(token), suffix, &token == &tokens.back() ? "" : " ");
    }
  };
}

Decoder read_metaspace(const base::JsonValue& field) {
  const auto mark = read_character(field["replacement"]);
  const bool added = field["prepend_scheme"].text_or("always") != "never" && field["add_prefix_space"].flag_or(true);
  return [mark, added](std::vector<std::string>& tokens) {
    for (auto& token : tokens) {
      token = base::replace_all(std::move(token), mark, added && &token == &tokens.front() ? "" : " ");
    }
  };
}

// The byte of "<0x1F>"; nothing for other tokens.
std::optional<char> byte_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') {
    return std::nullopt;
  }
  unsigned value = 0;
  const auto* end = token.data() + 5;
  if (std::from_chars(token.data() + 3, end, value, 16).ptr != end) {
    return std::nullopt;
  }
  return static_cast<char>(value);
}

void join_byte_tokens(std::vector<std::string>& tokens) {
  std::vector<std::string> out;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) {
      return;
    }
    if (!base::find_invalid_utf8(bytes)) {
      out.push_back(bytes);
    } else {
      out.insert(out.end(), bytes.size(), std::string(replacement_character));
    }
    bytes.clear();
  };
  for (auto& token : tokens) {
    if (const auto byte = byte_token(token)) {
      bytes += *byte;
    } else {
      flush();
      out.push_back(std::move(token));
    }
  }
  flush();
  tokens = std::move(out);
}

void fuse(std::vector<std::string>& tokens) { tokens = {base::join(tokens, "")}; }

Decoder read_strip(const base::JsonValue& field) {
  const auto content = read_character(field["content"]);
  const auto start = field["start"].whole<std::size_t>();
  const auto stop = field["stop"].whole<std::size_t>();
  return [content, start, stop](std::vector<std::string>& tokens) {
    for (auto& token : tokens) {
      for (std::size_t i = 0; i < start && token.starts_with(content); ++i) {
        token.erase(0, content.size());
      }
      for (std::size_t i = 0; i < stop && token.ends_with(content); ++i) {
        token.resize(token.size() - content.size());
      }
    }
  };
}

// As the normalizer of that name does it.
Decoder read_replace(const base::JsonValue& field) {
  return [replace = read_normalizer(field)](std::vector<std::string>& tokens) {
    for (auto& token : tokens) {
      AlignedText text(token, 0);
      replace(text);
      token = text.text();
    }
  };
}

}  // namespace

std::string to_valid_utf8(std::string_view bytes) {
  const bool is_valid = !base::find_invalid_utf8(bytes);  // else quoting replaces what is not
  return is_valid ? std::string(bytes) : base::Json::parse(base::json_quote(bytes)).get<std::string>();
}

Decoder read_decoder(const base::JsonValue& field) {
  static constexpr Kind<Decoder> kinds[] = {
      {"WordPiece", read_word_piece},
      {"ByteLevel", [](const base::JsonValue&) -> Decoder { return decode_bytes; }},
      {"BPEDecoder", read_byte_pairs},
      {"Metaspace", read_metaspace},
      {"ByteFallback", [](const base::JsonValue&) -> Decoder { return join_byte_tokens; }},
      {"Fuse", [](const base::JsonValue&) -> Decoder { return fuse; }},
      {"Strip", read_strip},
      {"Replace", read_replace},
      {"Sequence", [](const base::JsonValue& list) { return read_steps(list, "decoders", read_decoder); }}};
  return read_kind(field, kinds);
}

}  // namespace stereosweep::tokenizer
