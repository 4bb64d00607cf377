// "Precompiled" of tokenizer files: SentencePiece's character map, applied as the tokenizers wheel does. It looks up
// grapheme clusters and takes the shortest entry that one starts with, where SentencePiece takes the longest anywhere.
#include <array>

#include "tokenizer/CharacterMap.hpp"
#include "tokenizer/Normalizer.hpp"
#include "tokenizer/Regex.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr std::size_t longest_looked_up = 5;  // bytes of a cluster

std::string decode_base64(const Field& field) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  auto text = field.text();
  if (text.size() % 4 != 0) {
    field.refuse(std::to_string(text.size()) + " characters", "base64 has four for each three bytes");
  }
  for (int i = 0; i < 2 && text.ends_with('='); ++i) {
    text.pop_back();
  }
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char digit : text) {
    const auto value = alphabet.find(digit);
    if (value == std::string_view::npos) {
      field.refuse("a character that is no base64 digit", "the character map is written in base64");
    }
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFF);
    }
  }
  return bytes;
}

class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(const Field& field)
      : map_(decode_base64(field.at("precompiled_charsmap")), field.file() + ":" + field.path()),
        clusters_(make_regex("\\X", field)) {}

  void apply(AlignedText& text) const override {
    const auto input = text.text();
    std::vector<Match> clusters;
    std::vector<Change> changes;
    changes.reserve(input.size());
    bool changed = false;
    for (std::size_t begin = 0; begin < input.size();) {
      const auto end = end_of_plain_cluster(input, begin);
      if (end > begin) {
        changed = append(input.substr(begin, end - begin), changes) || changed;
        begin = end;
        continue;
      }
      const auto part = input.substr(begin, end_of_mixed_part(input, begin) - begin);
      clusters.clear();
      clusters_->find(part, clusters);
      for (const auto& cluster : clusters) {
        changed = append(part.substr(cluster.begin, cluster.end - cluster.begin), changes) || changed;
      }
      begin += part.size();
    }
    if (changed) {
      text.transform(changes);
    }
  }

 private:
  static bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

  // Two ASCII characters are two clusters, except a carriage return with its newline. `begin` itself: not known so
  // easily, because the cluster may go on behind ASCII.
  static std::size_t end_of_plain_cluster(std::string_view text, std::size_t begin) {
    auto end = begin + (text.substr(begin).starts_with("\r\n") ? 2 : 1);
    return is_ascii(text[begin]) && (end == text.size() || is_ascii(text[end])) ? end : begin;
  }

  // Where the next cluster of ASCII alone begins.
  static std::size_t end_of_mixed_part(std::string_view text, std::size_t begin) {
    for (auto end = begin + 1; end < text.size(); ++end) {
      if (is_ascii(text[end - 1]) && is_ascii(text[end]) && !(text[end - 1] == '\r' && text[end] == '\n')) {
        return end;
      }
    }
    return text.size();
  }

  bool append(std::string_view cluster, std::vector<Change>& changes) const {
    if (cluster.size() <= longest_looked_up && replace(cluster, changes)) {
      return true;
    }
    bool changed = false;
    for (std::size_t i = 0; i < cluster.size();) {
      const auto begin = i;
      const auto value = next_character(cluster, i);
      if (replace(cluster.substr(begin, i - begin), changes)) {
        changed = true;
      } else {
        changes.push_back({value, 0});
      }
    }
    return changed;
  }

  // `part` as a whole becomes what its shortest known start becomes.
  bool replace(std::string_view part, std::vector<Change>& changes) const {
    const auto found = map_.find(part, CharacterMap::Match::shortest);
    if (found.length == 0) {
      return false;
    }
    const auto before = changes.size();
    for (std::size_t i = 0; i < found.text.size();) {
      changes.push_back({next_character(found.text, i), 0});
    }
    const auto added =
        static_cast<std::ptrdiff_t>(changes.size() - before) - static_cast<std::ptrdiff_t>(count_characters(part));
    for (std::ptrdiff_t i = 0; i < added; ++i) {
      changes[changes.size() - 1 - static_cast<std::size_t>(i)].change = 1;
    }
    if (added < 0 && !changes.empty()) {
      changes.back().change += static_cast<std::int32_t>(added);
    }
    return true;
  }

  CharacterMap map_;
  std::unique_ptr<Pattern> clusters_;
};

}  // namespace

std::unique_ptr<Normalizer> make_precompiled(const Field& field) { return std::make_unique<Precompiled>(field); }

}  // namespace stereosweep::tokenizer
