// Regular expressions of tokenizer files. Files are hostile: a match that needs too many steps or too much memory is an
// error, never a hang.
#include <oniguruma.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "tokenizer/regex/Pattern.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr unsigned max_stack = 4'000'000;  // entries: about 200 MB
constexpr unsigned long max_steps_per_match = 10'000'000;

struct FreeRegex {
  void operator()(regex_t* regex) const { onig_free(regex); }
};
struct FreeRegion {
  void operator()(OnigRegion* region) const { onig_region_free(region, 1); }
};
struct FreeParameters {
  void operator()(OnigMatchParam* parameters) const { onig_free_match_param(parameters); }
};

std::string message_of(int status, OnigErrorInfo* info) {
  std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> buffer{};
  const int length = onig_error_code_to_str(buffer.data(), status, info);
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(length)};
}

const OnigUChar* bytes(std::string_view text) { return reinterpret_cast<const OnigUChar*>(text.data()); }

// The wheel's Oniguruma knows a later Unicode than Debian's: characters that ours calls unassigned are matched as older
// ones of the same category. They have the same length, so that offsets stay.
std::string_view with_older_characters(std::string_view text, std::string& copy) {
  constexpr unsigned char first_of_three = 0xE0;  // all of them have three bytes or four
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < first_of_three) {
      ++i;
      continue;
    }
    const auto begin = i;
    const auto value = next_character(text, i);
    if (!is(value, classes::newer)) {
      continue;
    }
    if (copy.empty()) {
      copy = text;
    }
    std::string older;
    base::append_utf8(older, older_like(value));
    copy.replace(begin, i - begin, older);
  }
  return copy.empty() ? text : copy;
}

// To Oniguruma from 6.9.9 on, as the wheel has it, symbols are punctuation; to Debian's they are not.
std::string with_newer_punctuation(std::string expression) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> names = {
      {{"[:punct:]", "\\p{P}\\p{S}"}, {"[:^punct:]", "[^\\p{P}\\p{S}]"}, {"\\p{PosixPunct}", "[\\p{P}\\p{S}]"}}};
  for (const auto& [name, characters] : names) {
    for (auto at = expression.find(name); at != std::string::npos; at = expression.find(name, at)) {
      expression.replace(at, name.size(), characters);
      at += characters.size();
    }
  }
  return expression;
}

void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
  });
}

class Regex final : public Pattern {
 public:
  Regex(const std::string& expression, const Field& place) : expression_(expression) {
    initialize();
    regex_t* compiled = nullptr;
    OnigErrorInfo info{};
    const auto meant = with_newer_punctuation(expression);
    const int status = onig_new(&compiled, bytes(meant), bytes(meant) + meant.size(), ONIG_OPTION_NONE,
                                ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info);
    if (status != ONIG_NORMAL) {
      place.refuse("no valid regular expression", message_of(status, &info));
    }
    regex_.reset(compiled);
    parameters_.reset(onig_new_match_param());
    onig_initialize_match_param(parameters_.get());
    onig_set_match_stack_limit_size_of_match_param(parameters_.get(), max_stack);
    onig_set_retry_limit_in_match_of_match_param(parameters_.get(), max_steps_per_match);
    onig_set_retry_limit_in_search_of_match_param(parameters_.get(), max_steps_per_match * 10);
  }

  // An empty match right behind a match does not count; the search then goes on one character later.
  void find(std::string_view original, std::vector<Match>& parts) const override {
    std::string copy;
    const auto text = with_older_characters(original, copy);
    const std::unique_ptr<OnigRegion, FreeRegion> region(onig_region_new());
    std::size_t done = 0;
    std::size_t from = 0;
    std::size_t last_end = std::string::npos;
    while (!text.empty() && from <= text.size() && search(text, from, region.get())) {
      const auto begin = static_cast<std::size_t>(region->beg[0]);
      const auto end = static_cast<std::size_t>(region->end[0]);
      if (begin == end && end == last_end) {
        if (from >= text.size()) {
          break;
        }
        next_character(text, from);
        continue;
      }
      if (done < begin) {
        parts.push_back({done, begin, false});
      }
      parts.push_back({begin, end, true});
      done = last_end = from = end;
    }
    if (done < text.size() || text.empty()) {
      parts.push_back({done, text.size(), false});
    }
  }

 private:
  bool search(std::string_view text, std::size_t from, OnigRegion* region) const {
    const auto* begin = bytes(text);
    const auto* end = begin + text.size();
    const auto status = onig_search_with_param(regex_.get(), begin, end, begin + from, end, region, ONIG_OPTION_NONE,
                                               parameters_.get());
    if (status < 0 && status != ONIG_MISMATCH) {
      throw base::Error(base::describe("the tokenizer's expression " + expression_ + " gave up",
                                       message_of(static_cast<int>(status), nullptr)));
    }
    return status >= 0;
  }

  std::string expression_;
  std::unique_ptr<regex_t, FreeRegex> regex_;
  std::unique_ptr<OnigMatchParam, FreeParameters> parameters_;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Writes an expression as PCRE2 must see it to match what Oniguruma matches: alternatives, sequences, groups that may
/// be optional, sets of characters with greedy counts, "$", and one set to look ahead at. Gives up at everything else.
class Translator {
 public:
  explicit Translator(std::string_view expression) : rest_(expression) {}

  std::optional<std::string> translate() {
    return read_choice() && rest_.empty() ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  enum class Place : std::uint8_t { alone, in_brackets };
  enum class Meaning : std::uint8_t { nothing, character, characters };

  bool take(std::string_view text) {
    const bool found = rest_.starts_with(text);
    rest_.remove_prefix(found ? text.size() : 0);
    return found;
  }
  void copy(std::size_t length) {
    out_ += rest_.substr(0, length);
    rest_.remove_prefix(length);
  }

  bool read_choice() {
    constexpr int max_depth = 20;
    if (++depth_ > max_depth) {
      return false;
    }
    while (!rest_.empty() && rest_.front() != ')') {
      if (rest_.front() == '|') {
        copy(1);
        folded_.clear();
      } else if (!read_item()) {
        return false;
      }
    }
    --depth_;
    return true;
  }

  bool read_item() {
    if (take("$")) {
      out_ += "(?=\\n|\\z)";  // before every line feed
      return !is_counted();
    }
    if (take("(?!") || take("(?=")) {
      out_.append(rest_.data() - 3, 3);
      if (rest_.empty() || !read_set() || !take(")")) {
        return false;
      }
      out_ += ')';
      return !is_counted();
    }
    return rest_.front() == '(' ? read_group() : read_set() && read_count();
  }

  bool is_counted() const {
    return !rest_.empty() && std::string_view("?*+{").find(rest_.front()) != std::string_view::npos;
  }

  bool read_group() {
    const bool folds = folds_;
    if (take("(?i:")) {
      folds_ = true;
      out_ += "(?i:";
    } else if (take("(?:") || (!rest_.starts_with("(?") && take("("))) {
      out_ += "(?:";
    } else {
      return false;
    }
    folded_.clear();
    if (!read_choice() || !take(")")) {
      return false;
    }
    folds_ = folds;
    folded_.clear();
    out_ += ')';
    if (rest_.starts_with('?')) {
      copy(1);
    }
    return !is_counted();
  }

  bool read_set() {
    if (folds_ && !may_fold()) {
      return false;
    }
    const char first = rest_.front();
    if (first == '\\') {
      return read_escape(Place::alone) != Meaning::nothing;
    }
    if (first == '[') {
      return read_brackets();
    }
    return std::string_view(".^*+?{}])|(").find(first) == std::string_view::npos && copy_character();
  }

  bool copy_character() {
    std::size_t length = 0;
    next_character(rest_, length);
    copy(length);
    return true;
  }

  // Without regard to case: ASCII alone, and not the pairs of letters that are also one character.
  bool may_fold() {
    const char first = rest_.front();
    if (static_cast<unsigned char>(first) >= 0x80 || first == '\\' || first == '[') {
      return false;
    }
    const char small = is_letter(first) ? static_cast<char>(first | 0x20) : first;
    const auto pair = folded_ + small;
    folded_ = small;
    return pair != "ss" && pair != "st" && pair != "ff" && pair != "fi" && pair != "fl";
  }

  // PCRE2's own \s and scripts are others than Oniguruma's; its \w is never taken.
  Meaning read_escape(Place place) {
    if (rest_.size() < 2 || static_cast<unsigned char>(rest_[1]) >= 0x80 || is_digit(rest_[1])) {
      return Meaning::nothing;
    }
    const char kind = rest_[1];
    if (kind == 'p' || kind == 'P') {
      return read_property();
    }
    if (!is_letter(kind) || kind == 'r' || kind == 'n' || kind == 't') {
      copy(2);
      return Meaning::character;
    }
    const bool negative = kind == 'S';
    const std::string_view inner = kind == 's' || kind == 'S' ? R"(\t-\r\x{85}\p{Z})"
                                   : kind == 'd'              ? R"(\p{Nd})"
                                   : kind == 'D'              ? R"(\P{Nd})"
                                                              : "";
    if (inner.empty() || (negative && place == Place::in_brackets)) {
      return Meaning::nothing;
    }
    rest_.remove_prefix(2);
    out_ += place == Place::in_brackets ? "" : negative ? "[^" : "[";
    out_ += inner;
    out_ += place == Place::in_brackets ? "" : "]";
    return Meaning::characters;
  }

  // "\p{L}", "\p{Lu}", "\p{Han}"
  Meaning read_property() {
    const auto end = rest_.find('}');
    if (end == std::string_view::npos || end < 4 || rest_[2] != '{') {
      return Meaning::nothing;
    }
    const auto name = rest_.substr(3, end - 3);
    const bool is_name = std::all_of(name.begin(), name.end(), is_letter) && name[0] <= 'Z';
    const bool is_category = std::string_view("LMNPSZC").find(name[0]) != std::string_view::npos &&
                             (name.size() == 1 || (name.size() == 2 && name[1] >= 'a'));
    if (!is_name || (!is_category && name.size() < 3)) {
      return Meaning::nothing;
    }
    out_ += std::string(rest_.substr(0, 3)) + (is_category ? "" : "sc:") + std::string(name) + "}";
    rest_.remove_prefix(end + 1);
    return Meaning::characters;
  }

  bool read_brackets() {
    copy(rest_.starts_with("[^") ? 2 : 1);
    auto before = Meaning::nothing;  // of a hyphen
    for (bool in_range = false; !rest_.empty() && (rest_.front() != ']' || in_range);) {
      const char first = rest_.front();
      if (first == '-' && before == Meaning::character && !rest_.starts_with("-]")) {
        copy(1);
        in_range = true;
        before = Meaning::nothing;
        continue;
      }
      if (first == '[' || first == ']' || rest_.starts_with("&&") || (first == '-' && !rest_.starts_with("-]"))) {
        return false;
      }
      const auto meaning = first == '\\' ? read_escape(Place::in_brackets) : (copy_character(), Meaning::character);
      if (meaning == Meaning::nothing || (in_range && meaning == Meaning::characters)) {
        return false;
      }
      before = in_range ? Meaning::characters : meaning;
      in_range = false;
    }
    if (rest_.empty() || out_.ends_with('[') || out_.ends_with("[^")) {
      return false;
    }
    copy(1);
    return true;
  }

  bool read_count() {
    if (!is_counted()) {
      return true;
    }
    folded_.clear();
    std::size_t length = 1;
    if (rest_.front() == '{') {
      const auto digits = [&] {
        const auto begin = length;
        while (length < rest_.size() && is_digit(rest_[length])) {
          ++length;
        }
        return length - begin;
      };
      const auto least = digits();
      const bool has_most = length < rest_.size() && rest_[length] == ',';
      length += has_most ? 1 : 0;
      const auto most = has_most ? digits() : 0;
      if (least == 0 || least > 4 || most > 4 || length == rest_.size() || rest_[length] != '}') {
        return false;
      }
      ++length;
    }
    copy(length);
    return !is_counted();
  }

  std::string_view rest_;
  std::string out_;
  bool folds_ = false;
  std::string folded_;  // the letter before, where case does not count
  int depth_ = 0;
};

struct FreePcre2 {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

class CompiledRegex final : public Pattern {
 public:
  CompiledRegex(std::unique_ptr<pcre2_code, FreePcre2> code, std::unique_ptr<Pattern> regex)
      : code_(std::move(code)), context_(pcre2_match_context_create(nullptr)), regex_(std::move(regex)) {
    pcre2_set_match_limit(context_.get(), max_ways);
  }

  /// Null where PCRE2 cannot compile it for this processor, or where a match could be empty.
  static std::unique_ptr<pcre2_code, FreePcre2> compile(const std::string& expression) {
    int error = 0;
    std::size_t offset = 0;
    std::unique_ptr<pcre2_code, FreePcre2> code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()),
                                                              expression.size(), PCRE2_UTF, &error, &offset, nullptr));
    std::uint32_t may_be_empty = 1;
    if (!code || pcre2_pattern_info(code.get(), PCRE2_INFO_MATCHEMPTY, &may_be_empty) != 0 || may_be_empty != 0 ||
        pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE) != 0) {
      return nullptr;
    }
    return code;
  }

  void find(std::string_view original, std::vector<Match>& parts) const override {
    std::string copy;
    const auto text = with_older_characters(original, copy);
    const auto kept = parts.size();
    thread_local const std::unique_ptr<pcre2_match_data, FreePcre2> data(pcre2_match_data_create(1, nullptr));
    const auto* found = pcre2_get_ovector_pointer(data.get());
    std::size_t done = 0;
    while (done < text.size()) {
      const int status = pcre2_jit_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), done, 0,
                                         data.get(), context_.get());
      if (status == PCRE2_ERROR_NOMATCH) {
        break;
      }
      if (status < 0) {  // an expression that tries many ways: Oniguruma has limits for these
        parts.resize(kept);
        regex_->find(original, parts);
        return;
      }
      if (done < found[0]) {
        parts.push_back({done, found[0], false});
      }
      parts.push_back({found[0], found[1], true});
      done = found[1];
    }
    if (done < text.size() || text.empty()) {
      parts.push_back({done, text.size(), false});
    }
  }

 private:
  static constexpr std::uint32_t max_ways = 1000;  // from one place; the usual expressions try a handful
  std::unique_ptr<pcre2_code, FreePcre2> code_;
  std::unique_ptr<pcre2_match_context, FreePcre2> context_;
  std::unique_ptr<Pattern> regex_;
};

}  // namespace

std::unique_ptr<Pattern> make_regex(const std::string& expression, const Field& place) {
  return std::make_unique<Regex>(expression, place);
}

std::unique_ptr<Pattern> make_compiled_regex(const std::string& expression, const Field& place) {
  auto regex = make_regex(expression, place);
  const auto translated = Translator(expression).translate();
  auto code = translated ? CompiledRegex::compile(*translated) : nullptr;
  return code ? std::make_unique<CompiledRegex>(std::move(code), std::move(regex)) : nullptr;
}

}  // namespace stereosweep::tokenizer
