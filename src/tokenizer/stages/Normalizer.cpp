#include <algorithm>
#include <utility>

#include "tokenizer/Kinds.hpp"
#include "tokenizer/regex/Pattern.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"
#include "tokenizer/stages/Stages.hpp"

namespace stereosweep::tokenizer {
namespace {

void drop(AlignedText& text, Classes unwanted) {
  text.rewrite([unwanted](char32_t value, Alignment alignment, AlignedText& out) {
    if (!is(value, unwanted)) {
      out.put(value, alignment);
    }
  });
}

void clean(AlignedText& text) {
  text.rewrite([](char32_t value, Alignment alignment, AlignedText& out) {
    const auto found = classes_of(value);
    if ((found & classes::removed_by_cleaning) == 0) {
      out.put((found & classes::cleaned_to_space) != 0 ? U' ' : value, alignment);
    }
  });
}

void separate_chinese(AlignedText& text) {
  text.rewrite([](char32_t value, Alignment alignment, AlignedText& out) {
    const bool spaced = is(value, classes::chinese);
    if (spaced) {
      out.put(' ', alignment);
    }
    out.put(value, alignment);
    if (spaced) {
      out.put(' ', alignment);
    }
  });
}

void make_lowercase(AlignedText& text) {
  text.rewrite([](char32_t value, Alignment alignment, AlignedText& out) {
    if (value < 0x80) {
      out.put(value >= 'A' && value <= 'Z' ? value + ('a' - 'A') : value, alignment);
    } else if (!is(value, classes::has_lowercase)) {
      out.put(value, alignment);
    } else {
      for (const auto part : lowercase_of(value)) {
        out.put(part, alignment);
      }
    }
  });
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

template <Form form, Composition composition>
Normalizer make_form(const base::JsonValue& /*field*/) {
  return [](AlignedText& text) {
    if (!is_ascii(text.text())) {  // ASCII is normal in every form
      text.transform(normal_form(text.text(), form, composition));
    }
  };
}

Normalizer read_bert_normalizer(const base::JsonValue& field) {
  const bool cleans = field["clean_text"].flag_or(true);
  const bool chinese = field["handle_chinese_chars"].flag_or(true);
  const bool lowercase = field["lowercase"].flag_or(true);
  const bool strips_accents = field["strip_accents"].flag_or(lowercase);
  return [=](AlignedText& text) {
    if (cleans) {
      clean(text);
    }
    if (chinese && !is_ascii(text.text())) {
      separate_chinese(text);
    }
    if (strips_accents && !is_ascii(text.text())) {
      text.transform(normal_form(text.text(), Form::canonical, Composition::none));
      drop(text, classes::nonspacing_mark);
    }
    if (lowercase) {
      make_lowercase(text);
    }
  };
}

Normalizer read_strip_normalizer(const base::JsonValue& field) {
  const bool left = field["strip_left"].flag();
  const bool right = field["strip_right"].flag();
  return [left, right](AlignedText& text) {
    const auto begin = left ? end_of_leading(text.text()) : 0;
    const auto rest = text.text().substr(begin);
    const auto end = begin + (right ? start_of_trailing(rest) : rest.size());
    if (begin > 0 || end < text.size()) {
      text = text.part(begin, end);
    }
  };
}

Normalizer read_replace_normalizer(const base::JsonValue& field) {
  auto pattern = read_pattern(field["pattern"]);
  auto content = field["content"].text();
  field["content"].refuse_if(field["pattern"]["Regex"] && content.find('$') != std::string::npos,
                             "\"$\" in the replacement of an expression", "groups are not supported");
  return [pattern = std::move(pattern), content = std::move(content)](AlignedText& text) {
    std::vector<Match> parts;
    pattern(text.text(), parts);
    if (std::ranges::none_of(parts, &Match::is_match)) {
      return;
    }
    auto out = text.part(0, 0);
    out.reserve(text.size());
    for (const auto& [begin, end, is_match] : parts) {
      if (is_match) {
        AlignedText::check_growth(out.size() + content.size(), text.size());
        out.put(content, text.before(end));
      } else {
        out.append(text, begin, end);
      }
    }
    text = std::move(out);
  };
}

Normalizer read_prepend(const base::JsonValue& field) {
  return [prefix = field["prepend"].text()](AlignedText& text) { text.prepend(prefix); };
}

void make_byte_level(AlignedText& text) {
  AlignedText out = text.part(0, 0);
  append_byte_level(text, 0, text.size(), out);
  text = std::move(out);
}

}  // namespace

Normalizer read_normalizer(const base::JsonValue& field) {
  static constexpr Kind<Normalizer> kinds[] = {
      {"BertNormalizer", read_bert_normalizer},
      {"Lowercase", [](const base::JsonValue&) -> Normalizer { return make_lowercase; }},
      {"NFD", make_form<Form::canonical, Composition::none>},
      {"NFC", make_form<Form::canonical, Composition::composed>},
      {"NFKD", make_form<Form::compatible, Composition::none>},
      {"NFKC", make_form<Form::compatible, Composition::composed>},
      {"StripAccents",
       [](const base::JsonValue&) -> Normalizer {
         return [](AlignedText& text) { drop(text, classes::combining_mark); };
       }},
      {"Strip", read_strip_normalizer},
      {"Prepend", read_prepend},
      {"Precompiled", read_precompiled},
      {"Replace", read_replace_normalizer},
      {"ByteLevel", [](const base::JsonValue&) -> Normalizer { return make_byte_level; }},
      {"Sequence", [](const base::JsonValue& list) { return read_steps(list, "normalizers", read_normalizer); }}};
  return read_kind(field, kinds);
}

}  // namespace stereosweep::tokenizer
