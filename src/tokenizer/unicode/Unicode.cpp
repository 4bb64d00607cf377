#include "tokenizer/unicode/Unicode.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tokenizer/unicode/UnicodeTables.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr std::size_t num_code_points = 0x110000;

// One mapping with its entries' places, ascending by source.
class Mapping {
 public:
  void add(std::span<const char32_t> numbers) {
    for (std::size_t i = 0; i < numbers.size();) {
      const std::size_t count = numbers[i] >> 24;
      entries_.emplace_back(numbers[i] & 0xFFFFFF, numbers.subspan(i + 1, count));
      i += 1 + count;
    }
  }
  std::span<const char32_t> find(char32_t value) const {
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), value,
                                     [](const auto& entry, char32_t wanted) { return entry.first < wanted; });
    return it != entries_.end() && it->first == value ? it->second : std::span<const char32_t>();
  }
  const auto& entries() const { return entries_; }

 private:
  std::vector<std::pair<char32_t, std::span<const char32_t>>> entries_;
};

struct Tables {
  std::vector<Classes> classes = std::vector<Classes>(num_code_points);
  Mapping lowercase, canonical, compatible;

  Tables() {
    const std::array<std::pair<std::span<const char32_t>, Classes>, 12> all = {
        {{tables::white_space, classes::white_space},
         {tables::regex_space, classes::regex_space},
         {tables::regex_letter, classes::regex_letter},
         {tables::regex_number, classes::regex_number},
         {tables::punctuation, classes::punctuation},
         {tables::removed_by_cleaning, classes::removed_by_cleaning},
         {tables::cleaned_to_space, classes::cleaned_to_space},
         {tables::nonspacing_mark, classes::nonspacing_mark},
         {tables::chinese, classes::chinese},
         {tables::combining_mark, classes::combining_mark},
         {tables::numeric, classes::numeric},
         {tables::word, classes::word}}};
    for (const auto& [numbers, bit] : all) {
      for (std::size_t i = 0; i < numbers.size(); i += 2) {
        mark(numbers[i], numbers[i + 1], bit);
      }
    }
    const auto& ordered = tables::combining_classes;
    for (std::size_t i = 0; i < ordered.size(); i += 3) {
      mark(ordered[i], ordered[i + 1], classes::reordered);
    }
    const auto& later = tables::newer;
    for (std::size_t i = 0; i < later.size(); i += 3) {
      mark(later[i], later[i + 1], classes::newer);
    }
    lowercase.add(tables::lowercase);
    canonical.add(tables::canonical);
    compatible.add(tables::compatible_low);
    compatible.add(tables::compatible_high);
    mark(lowercase, classes::has_lowercase);
    mark(canonical, classes::has_canonical);
    mark(compatible, classes::has_compatible);
  }

  void mark(char32_t first, char32_t last, Classes bit) {
    for (char32_t value = first; value <= last; ++value) {
      classes[value] = static_cast<Classes>(classes[value] | bit);
    }
  }
  void mark(const Mapping& mapping, Classes bit) {
    for (const auto& entry : mapping.entries()) {
      mark(entry.first, entry.first, bit);
    }
  }
};

const Tables& unicode() {
  static const Tables tables;
  return tables;
}

unsigned combining_class(char32_t value) {
  if (!is(value, classes::reordered)) {
    return 0;
  }
  const auto& numbers = tables::combining_classes;
  for (std::size_t i = 0; i < numbers.size(); i += 3) {  // few hundred spans, rarely asked
    if (numbers[i] <= value && value <= numbers[i + 1]) {
      return numbers[i + 2];
    }
  }
  return 0;
}

// Hangul arithmetic (Unicode Standard, section 3.12).
constexpr char32_t syllable = 0xAC00, leading = 0x1100, vowel = 0x1161, trailing = 0x11A7;
constexpr char32_t num_leading = 19, num_vowel = 21, num_trailing = 28;

bool is_hangul(char32_t value) {
  return value >= syllable && value < syllable + num_leading * num_vowel * num_trailing;
}

char32_t compose(char32_t first, char32_t second) {
  if (first >= leading && first < leading + num_leading && second >= vowel && second < vowel + num_vowel) {
    return syllable + ((first - leading) * num_vowel + (second - vowel)) * num_trailing;
  }
  if (is_hangul(first) && (first - syllable) % num_trailing == 0 && second > trailing &&
      second < trailing + num_trailing) {
    return first + (second - trailing);
  }
  const auto& numbers = tables::composition;
  std::size_t low = 0;
  std::size_t high = numbers.size() / 3;
  while (low < high) {
    const auto middle = (low + high) / 2;
    const auto pair = std::pair(numbers[3 * middle], numbers[3 * middle + 1]);
    if (pair < std::pair(first, second)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool found = 3 * low < numbers.size() && numbers[3 * low] == first && numbers[3 * low + 1] == second;
  return found ? numbers[3 * low + 2] : 0;
}

struct Mark {
  unsigned combining = 0;
  Change character;
};

// Decomposed, combining characters in canonical order.
class Decomposed {
 public:
  explicit Decomposed(Form form) : form_(form) {}
  void add(char32_t value) {
    const auto classes = classes_of(value);
    std::span<const char32_t> parts;
    std::array<char32_t, 3> hangul{};
    if (is_hangul(value)) {
      const auto index = value - syllable;
      hangul = {leading + index / (num_vowel * num_trailing), vowel + index % (num_vowel * num_trailing) / num_trailing,
                trailing + index % num_trailing};
      parts = std::span(hangul).first(hangul[2] == trailing ? 2 : 3);
    } else if (form_ == Form::compatible && (classes & classes::has_compatible) != 0) {
      parts = unicode().compatible.find(value);
    } else if ((classes & classes::has_canonical) != 0) {
      parts = unicode().canonical.find(value);
    }
    if (parts.empty()) {
      push({value, 0});
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      push({parts[i], i == 0 ? 0 : 1});
    }
  }
  std::vector<Mark> finish() {
    sort_pending();
    return std::move(marks_);
  }

 private:
  void push(Change character) {
    const auto combining = combining_class(character.value);
    if (combining == 0) {
      sort_pending();
    }
    marks_.push_back({combining, character});
    if (combining == 0) {
      ready_ = marks_.size();
    }
  }
  void sort_pending() {
    std::stable_sort(marks_.begin() + static_cast<std::ptrdiff_t>(ready_), marks_.end(),
                     [](const Mark& a, const Mark& b) { return a.combining < b.combining; });
    ready_ = marks_.size();
  }
  Form form_;
  std::vector<Mark> marks_;
  std::size_t ready_ = 0;
};

// Canonical composition: each character joins the last starter unless something of its class or higher is between.
std::vector<Change> composed(const std::vector<Mark>& marks) {
  std::vector<Change> out;
  std::size_t starter = std::string::npos;
  int last = -1;  // class of the last character that stayed behind the starter; -1: none
  for (const auto& mark : marks) {
    if (starter != std::string::npos && last < static_cast<int>(mark.combining)) {
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

Classes classes_of(char32_t value) {
  static const Classes* const classes = unicode().classes.data();
  return value < num_code_points ? classes[value] : 0;
}

std::span<const char32_t> lowercase_of(char32_t value) { return unicode().lowercase.find(value); }

char32_t older_like(char32_t value) {
  const auto& numbers = tables::newer;
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    if (numbers[i] <= value && value <= numbers[i + 1]) {
      return numbers[i + 2];
    }
  }
  return value;
}

std::vector<Change> normal_form(std::string_view text, Form form, Composition composition) {
  Decomposed decomposed(form);
  for (std::size_t i = 0; i < text.size();) {
    decomposed.add(next_character(text, i));
  }
  const auto marks = decomposed.finish();
  if (composition == Composition::composed) {
    return composed(marks);
  }
  std::vector<Change> out;
  out.reserve(marks.size());
  for (const auto& mark : marks) {
    out.push_back(mark.character);
  }
  return out;
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace stereosweep::tokenizer
