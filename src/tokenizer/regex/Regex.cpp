#include "tokenizer/regex/Regex.hpp"

#include <oniguruma.h>

#include <array>
#include <mutex>

#include "base/Error.hpp"
#include "base/Text.hpp"

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
  for (std::size_t i = 0; i < text.size();) {
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

}  // namespace

std::unique_ptr<Pattern> make_regex(const std::string& expression, const Field& place) {
  return std::make_unique<Regex>(expression, place);
}

}  // namespace stereosweep::tokenizer
