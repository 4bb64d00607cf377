#include "tokenizer/unicode/Unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::tokenizer {

/// The text of unicode_tables.txt; CMakeLists.txt makes its definition.
std::string_view unicode_tables();

namespace {

constexpr std::size_t num_code_points = 0x110000;

/// A word of the tables (their head says how they are written): "first-last/step:target".
struct Run {
  char32_t first = 0;
  char32_t last = 0;
  char32_t step = 1;
  std::u32string target;  // of the first
};

char32_t read_number(std::string_view& word) {
  std::uint32_t value = 0;
  const auto end = std::from_chars(word.data(), word.data() + word.size(), value, 16).ptr;
  word.remove_prefix(static_cast<std::size_t>(end - word.data()));
  return value;
}

std::vector<Run> read_runs(std::string_view text) {
  std::vector<Run> runs;
  for (auto word = text; !word.empty(); word.remove_prefix(word.starts_with(' ') ? 1 : 0)) {
    Run run;
    run.first = run.last = read_number(word);
    while (!word.empty() && word.front() != ' ') {
      const char sign = word.front();
      word.remove_prefix(1);
      const auto number = read_number(word);
      (sign == '-' ? run.last : sign == '/' ? run.step : (run.target += U'\0').back()) = number;
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

// What utf8proc's facts make of a code point.
Classes classes_in_utf8proc(char32_t value) {
  using namespace classes;
  const auto character = static_cast<utf8proc_int32_t>(value);
  const auto& facts = *utf8proc_get_property(character);
  const int kind = facts.category;
  const auto in = [kind](int first, int last) { return kind >= first && kind <= last; };
  const Classes category = in(UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO)   ? word
                           : in(UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MN) ? combining_mark | word | nonspacing_mark
                           : in(UTF8PROC_CATEGORY_MC, UTF8PROC_CATEGORY_ME) ? combining_mark | word
                           : in(UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NL) ? numeric | word
                           : in(UTF8PROC_CATEGORY_NO, UTF8PROC_CATEGORY_NO) ? numeric
                           : in(UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PC) ? punctuation | word
                           : in(UTF8PROC_CATEGORY_PD, UTF8PROC_CATEGORY_PO) ? punctuation
                           : in(UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZP) ? white_space | cleaned_to_space
                           : in(UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CF) || kind == UTF8PROC_CATEGORY_CO
                               ? removed_by_cleaning
                               : 0;
  const bool decomposes = facts.decomp_seqindex != std::numeric_limits<utf8proc_uint16_t>::max();
  return category | (facts.combining_class != 0 ? reordered : 0) |
         (decomposes ? facts.decomp_type == 0 ? has_canonical : has_compatible : 0) |
         (utf8proc_tolower(character) != character ? has_lowercase : 0);
}

struct Tables {
  std::vector<Classes> classes = std::vector<Classes>(num_code_points);
  std::vector<std::string> names = base::split(  // [bit of the class]
      "white_space punctuation removed_by_cleaning cleaned_to_space nonspacing_mark chinese combining_mark numeric "
      "word has_lowercase has_canonical has_compatible reordered newer",
      ' ');
  std::vector<Run> lowercase;                   // ascending
  std::vector<std::pair<Run, char32_t>> newer;  // ascending, an older character like them

  Tables() {
    for (char32_t value = 0; value < num_code_points; ++value) {
      if (value == 0x40000) {
        value = 0xE0000;  // planes 4 to 13 have no characters
      }
      classes[value] = classes_in_utf8proc(value);
    }
    for (const auto& line : base::split(unicode_tables(), '\n')) {
      if (!line.empty() && !line.starts_with('#')) {
        read(line);
      }
    }
  }

  // "name + runs", "name - runs" or "newer older runs".
  void read(std::string_view line) {
    const auto name = line.substr(0, line.find(' '));
    line.remove_prefix(name.size() + 1);
    const auto runs = read_runs(line.substr(line.find(' ') + 1));
    if (name == "lowercase") {
      lowercase.insert(lowercase.end(), runs.begin(), runs.end());
      return;
    }
    const auto bits = Classes{1} << (std::ranges::find(names, name) - names.begin());
    mark(runs, bits, line.starts_with('-') ? 0 : bits);
    if (bits == tokenizer::classes::newer) {
      const auto older = read_number(line);
      std::ranges::transform(runs, std::back_inserter(newer), [&](const Run& run) { return std::pair(run, older); });
    }
  }

  // Of all their characters these bits become those.
  void mark(const std::vector<Run>& runs, Classes bits, Classes those) {
    for (const auto& run : runs) {
      for (char32_t value = run.first; value <= run.last; value += run.step) {
        classes[value] = (classes[value] & ~bits) | those;
      }
    }
  }
};

const Tables& unicode() {
  static const Tables tables;
  return tables;
}

unsigned combining_class(char32_t value) {
  return is(value, classes::reordered) ? utf8proc_get_property(static_cast<utf8proc_int32_t>(value))->combining_class
                                       : 0;
}

bool is_hangul(char32_t value) { return value >= 0xAC00 && value <= 0xD7A3; }

char32_t compose(char32_t first, char32_t second) {
  std::array pair = {static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second)};
  const auto count = utf8proc_normalize_utf32(pair.data(), pair.size(),
                                              static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const auto joined = static_cast<char32_t>(pair[0]);
  return count == 1 && (is_hangul(joined) || is(joined, classes::has_canonical)) ? joined : 0;
}

struct Mark {
  unsigned combining = 0;
  Change character;
};

// Decomposed, combining characters in canonical order.
std::vector<Mark> decomposed(std::string_view text, Form form) {
  std::vector<Mark> marks;
  const auto push = [&](char32_t value, std::int32_t change) {
    marks.push_back({combining_class(value), {value, change}});
  };
  for (std::size_t i = 0; i < text.size();) {
    const auto value = next_character(text, i);
    const bool compatible = form == Form::compatible && is(value, classes::has_compatible);
    if (!compatible && !is(value, classes::has_canonical) && !is_hangul(value)) {
      push(value, 0);
      continue;
    }
    std::array<utf8proc_int32_t, 18> parts{};  // the longest is U+FDFA's
    const auto count = utf8proc_decompose_char(
        static_cast<utf8proc_int32_t>(value), parts.data(), parts.size(),
        static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0)), nullptr);
    for (std::size_t part = 0; part < static_cast<std::size_t>(count); ++part) {
      push(static_cast<char32_t>(parts[part]), part == 0 ? 0 : 1);
    }
  }
  const auto is_starter = [](const Mark& mark) { return mark.combining == 0; };
  for (auto end = marks.begin(); end != marks.end();) {
    const auto begin = std::find_if_not(end, marks.end(), is_starter);
    end = std::find_if(begin, marks.end(), is_starter);
    std::ranges::stable_sort(begin, end, {}, &Mark::combining);
  }
  return marks;
}

// Canonical composition: each character joins the last starter unless something of its class or higher is between.
std::vector<Change> composed(const std::vector<Mark>& marks) {
  std::vector<Change> out;
  std::size_t starter = std::string_view::npos;
  int last = -1;  // class of the last character that stayed behind the starter; -1: none
  for (const auto& mark : marks) {
    if (starter != std::string_view::npos && last < static_cast<int>(mark.combining)) {
      if (const auto joined = compose(out[starter].value, mark.character.value); joined != 0) {
        out[starter] = {joined, out[starter].change + mark.character.change - 1};
        continue;
      }
    }
    out.push_back(mark.character);
    if (mark.combining == 0) {
      starter = out.size() - 1;
      last = -1;
    } else {
      last = static_cast<int>(mark.combining);
    }
  }
  return out;
}

}  // namespace

const Classes* class_table() { return unicode().classes.data(); }

std::u32string lowercase_of(char32_t value) {
  if (!is(value, classes::has_lowercase)) {
    return {};
  }
  for (const auto& run : unicode().lowercase) {
    if (run.first <= value && value <= run.last && (value - run.first) % run.step == 0) {
      auto target = run.target;
      target.back() += value - run.first;
      return target;
    }
  }
  return {static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(value)))};
}

char32_t older_like(char32_t value) {
  for (const auto& [run, older] : unicode().newer) {
    if (run.first <= value && value <= run.last) {
      return older;
    }
  }
  return value;
}

std::vector<Change> normal_form(std::string_view text, Form form, Composition composition) {
  const auto marks = decomposed(text, form);
  return composition == Composition::composed ? composed(marks) : base::mapped(marks, &Mark::character);
}

std::size_t end_of_cluster(std::string_view text, std::size_t begin) {
  const auto character_at = [text](std::size_t& position) {
    const auto value = next_character(text, position);
    return static_cast<utf8proc_int32_t>(is(value, classes::newer) ? older_like(value) : value);
  };
  utf8proc_int32_t state = 0;
  auto end = begin;
  for (auto last = character_at(end); end < text.size();) {
    auto next = end;
    const auto character = character_at(next);
    if (utf8proc_grapheme_break_stateful(last, character, &state)) {
      break;
    }
    last = character;
    end = next;
  }
  return end;
}

std::size_t end_of_leading(std::string_view text, bool (*is_wanted)(char32_t)) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < text.size() && is_wanted(next_character(text, i));) {
    end = i;
  }
  return end;
}

std::size_t start_of_trailing(std::string_view text, bool (*is_wanted)(char32_t)) {
  std::size_t begin = text.size();
  while (begin > 0) {
    const auto last = previous_character(text, begin);
    auto i = last;
    if (!is_wanted(next_character(text, i))) {
      break;
    }
    begin = last;
  }
  return begin;
}

}  // namespace stereosweep::tokenizer
