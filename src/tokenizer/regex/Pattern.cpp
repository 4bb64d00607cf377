// Regular expressions of tokenizer files are hostile: a match that needs too many steps or too much memory is an error,
// never a hang.
#include "tokenizer/regex/Pattern.hpp"

#include <oniguruma.h>
#include <pcre2.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>

#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::tokenizer {

namespace {

// Appends the match [begin, end) and what lies between it and the one before, which ended at `done`.
void add_match(std::size_t& done, std::size_t begin, std::size_t end, std::vector<Match>& parts) {
  if (done < begin) {
    parts.push_back({done, begin, false});
  }
  parts.push_back({begin, end, true});
  done = end;
}

// Appends what lies behind the last match, which ended at `done`.
void add_rest(std::size_t done, std::string_view text, std::vector<Match>& parts) {
  if (done < text.size() || text.empty()) {
    parts.push_back({done, text.size(), false});
  }
}

constexpr unsigned max_stack = 4'000'000;  // entries: about 200 MB
constexpr unsigned long max_steps_per_match = 10'000'000;

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
    expression = base::replace_all(std::move(expression), name, characters);
  }
  return expression;
}

/// An expression as Oniguruma matches it.
class Regex {
 public:
  Regex(const std::string& expression, const base::JsonValue& place) : expression_(expression) {
    static std::once_flag once;
    std::call_once(once, [] {
      OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
      onig_initialize(encodings, 1);
    });
    regex_t* compiled = nullptr;
    OnigErrorInfo info{};
    const auto meant = with_newer_punctuation(expression);
    const int status = onig_new(&compiled, bytes(meant), bytes(meant) + meant.size(), ONIG_OPTION_NONE,
                                ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info);
    if (status != ONIG_NORMAL) {
      place.refuse("no valid regular expression", message_of(status, &info));
    }
    regex_.reset(compiled, onig_free);
    parameters_.reset(onig_new_match_param(), onig_free_match_param);
    onig_initialize_match_param(parameters_.get());
    onig_set_match_stack_limit_size_of_match_param(parameters_.get(), max_stack);
    onig_set_retry_limit_in_match_of_match_param(parameters_.get(), max_steps_per_match);
    onig_set_retry_limit_in_search_of_match_param(parameters_.get(), max_steps_per_match * 10);
  }

  // An empty match right behind a match does not count; the search then goes on one character later.
  void operator()(std::string_view original, std::vector<Match>& parts) const {
    std::string copy;
    const auto text = with_older_characters(original, copy);
    const std::shared_ptr<OnigRegion> region(onig_region_new(), [](OnigRegion* made) { onig_region_free(made, 1); });
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
      add_match(done, begin, end, parts);
      last_end = from = end;
    }
    add_rest(done, text, parts);
  }

 private:
  bool search(std::string_view text, std::size_t from, OnigRegion* region) const {
    const auto* begin = bytes(text);
    const auto* end = begin + text.size();
    const auto status = onig_search_with_param(regex_.get(), begin, end, begin + from, end, region, ONIG_OPTION_NONE,
                                               parameters_.get());
    if (status < 0 && status != ONIG_MISMATCH) {
      base::fail("the tokenizer's expression " + expression_ + " gave up",
                 message_of(static_cast<int>(status), nullptr));
    }
    return status >= 0;
  }

  std::string expression_;
  std::shared_ptr<regex_t> regex_;
  std::shared_ptr<OnigMatchParam> parameters_;
};

using Pcre2 = std::shared_ptr<pcre2_code>;

Pcre2 compile_pcre2(std::string_view expression, std::uint32_t options) {
  int error = 0;
  std::size_t offset = 0;
  return {pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), PCRE2_UTF | options, &error,
                        &offset, nullptr),
          pcre2_code_free};
}

// The expressions that PCRE2 matches as Oniguruma does, once it sees the same sets of characters: alternatives,
// sequences, groups that may be optional, sets with greedy counts, "$", one set to look ahead at. Without regard to
// case ASCII alone, and not the pairs of letters that are also one character.
constexpr std::string_view grammar = R"(\A (?&choice) \z (?(DEFINE)
  (?<choice>    (?> \| | (?&item) (?! [?*+{] ) )* )
  (?<item>      \$ | \(\?[!=] (?&set) \) | (?&folded) \)\?? | \( (?: \?: | (?!\?) ) (?&choice) \)\?? | (?&set) (?&count)? )
  (?<folded>    \(\?i: (?> \| | (?! (?i: ss | st | f[fil] ) | [^\x00-\x7F] ) (?&literal) (?&count)? (?! [?*+{] ) )* )
  (?<set>       (?&literal) | \\[rntsSdD] | (?&sign) | (?&property) | \[ \^? (?&member)+ \] )
  (?<literal>   [^.^*+?{}()\[\]\\|$] )
  (?<sign>      \\[^A-Za-z0-9\x80-\x{10FFFF}] )
  (?<property>  \\[pP]\{ (?: [LMNPSZC][a-z]? | [A-Z][A-Za-z]{2,} ) \} )
  (?<member>    (?&character) (?: - (?&character) )? | \\[sdD] | (?&property) | -(?=\]) )
  (?<character> [^\[\]\\&-] | &(?!&) | \\[rnt] | (?&sign) )
  (?<count>     [?*+] | \{ [0-9]{1,4} (?: , [0-9]{0,4} )? \} ) ))";

/// An expression of that grammar as PCRE2 must see it: its own "\s", "\d", "$" and names of scripts are others. Nothing
/// for every other one.
std::optional<std::string> translate(const std::string& expression) {
  static const Pcre2 known = compile_pcre2(grammar, PCRE2_EXTENDED);
  constexpr std::size_t max_size = 4096;
  constexpr std::uint32_t max_kilobytes = 1 << 16;
  const std::shared_ptr<pcre2_match_context> limits(pcre2_match_context_create(nullptr), pcre2_match_context_free);
  pcre2_set_heap_limit(limits.get(), max_kilobytes);
  const std::shared_ptr<pcre2_match_data> data(pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  if (expression.size() > max_size || pcre2_match(known.get(), reinterpret_cast<PCRE2_SPTR>(expression.data()),
                                                  expression.size(), 0, 0, data.get(), limits.get()) < 0) {
    return std::nullopt;
  }
  std::string out;
  bool in_brackets = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char first = expression[i];
    if (first != '\\') {
      in_brackets = first == '[' || (in_brackets && first != ']');
      out += first == '$' && !in_brackets ? "(?=\\n|\\z)" : std::string(1, first);  // before every line feed
      continue;
    }
    const char kind = expression[++i];
    const std::string_view inner = kind == 's' || kind == 'S' ? R"(\t-\r\x{85}\p{Z})"
                                   : kind == 'd'              ? R"(\p{Nd})"
                                   : kind == 'D'              ? R"(\P{Nd})"
                                                              : "";
    const bool is_script = (kind == 'p' || kind == 'P') && expression.find('}', i) > i + 4;
    if (!inner.empty()) {
      out += in_brackets ? "" : kind == 'S' ? "[^" : "[";
      out += std::string(inner) + (in_brackets ? "" : "]");
    } else {
      out += std::string("\\") + kind + (is_script ? "{sc:" : "");
      i += is_script ? 1 : 0;
    }
  }
  return out;
}

/// An expression compiled for the processor.
class CompiledRegex {
 public:
  CompiledRegex(Pcre2 code, Pattern regex)
      : code_(std::move(code)),
        context_(pcre2_match_context_create(nullptr), pcre2_match_context_free),
        regex_(std::move(regex)) {
    pcre2_set_match_limit(context_.get(), max_ways);
  }

  void operator()(std::string_view original, std::vector<Match>& parts) const {
    std::string copy;
    const auto text = with_older_characters(original, copy);
    const auto kept = parts.size();
    thread_local const std::shared_ptr<pcre2_match_data> data(pcre2_match_data_create(1, nullptr),
                                                              pcre2_match_data_free);
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
        regex_(original, parts);
        return;
      }
      add_match(done, found[0], found[1], parts);
    }
    add_rest(done, text, parts);
  }

 private:
  static constexpr std::uint32_t max_ways = 1000;  // from one place; the usual expressions try a handful
  Pcre2 code_;
  std::shared_ptr<pcre2_match_context> context_;
  Pattern regex_;
};

}  // namespace

Pattern make_class_pattern(Classes wanted) {
  return [wanted](std::string_view text, std::vector<Match>& parts) {
    std::size_t done = 0;
    for (std::size_t i = 0; i < text.size();) {
      const auto begin = i;
      if (is(next_character(text, i), wanted)) {
        add_match(done, begin, i, parts);
      }
    }
    add_rest(done, text, parts);
  };
}

Pattern make_literal(const std::string& literal) {
  return [literal](std::string_view text, std::vector<Match>& parts) {
    std::size_t done = 0;
    for (auto at = text.find(literal); at != std::string_view::npos && !literal.empty();
         at = text.find(literal, done)) {
      add_match(done, at, at + literal.size(), parts);
    }
    add_rest(done, text, parts);
  };
}

Pattern make_regex(const std::string& expression, const base::JsonValue& place) { return Regex(expression, place); }

Pattern make_compiled_regex(const std::string& expression, const base::JsonValue& place) {
  auto regex = make_regex(expression, place);
  const auto translated = translate(expression);
  const auto code = translated ? compile_pcre2(*translated, PCRE2_NO_AUTO_CAPTURE) : nullptr;
  std::uint32_t may_be_empty = 1;
  if (!code || pcre2_pattern_info(code.get(), PCRE2_INFO_MATCHEMPTY, &may_be_empty) != 0 || may_be_empty != 0 ||
      pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE) != 0) {
    return nullptr;
  }
  return CompiledRegex(code, std::move(regex));
}

Pattern make_expression(const std::string& expression, const base::JsonValue& place) {
  const auto compiled = make_compiled_regex(expression, place);
  return compiled ? compiled : make_regex(expression, place);
}

Pattern read_pattern(const base::JsonValue& field) {
  if (const auto literal = field["String"]) {
    return make_literal(literal.text());
  }
  const auto expression = field["Regex"];
  field.refuse_if(!expression, "unknown kind of pattern", "String and Regex are supported");
  return make_expression(expression.text(), expression);
}

}  // namespace stereosweep::tokenizer
