#include "tokenizer/stages/Normalizer.hpp"

#include <algorithm>
#include <functional>

#include "tokenizer/regex/Pattern.hpp"
#include "tokenizer/unicode/AlignedText.hpp"

namespace stereosweep::tokenizer {
namespace {

void drop(AlignedText& text, Classes unwanted) {
  text.rewrite([unwanted](char32_t value, Alignment alignment, AlignedText& out) {
    if (!is(value, unwanted)) {
      out.put(value, alignment);
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

void make_normal(AlignedText& text, Form form, Composition composition) {
  if (!is_ascii(text.text())) {  // ASCII is normal in every form
    text.transform(normal_form(text.text(), form, composition));
  }
}

class Bert final : public Normalizer {
 public:
  explicit Bert(const Field& field)
      : clean_(field.flag_or("clean_text", true)),
        chinese_(field.flag_or("handle_chinese_chars", true)),
        lowercase_(field.flag_or("lowercase", true)),
        strip_accents_(field.flag_or("strip_accents", lowercase_)) {}

  void apply(AlignedText& text) const override {
    if (clean_) {
      text.rewrite([](char32_t value, Alignment alignment, AlignedText& out) {
        const auto found = classes_of(value);
        if ((found & classes::removed_by_cleaning) == 0) {
          out.put((found & classes::cleaned_to_space) != 0 ? U' ' : value, alignment);
        }
      });
    }
    if (chinese_ && !is_ascii(text.text())) {
      separate_chinese(text);
    }
    if (strip_accents_ && !is_ascii(text.text())) {
      make_normal(text, Form::canonical, Composition::none);
      drop(text, classes::nonspacing_mark);
    }
    if (lowercase_) {
      make_lowercase(text);
    }
  }

 private:
  static void separate_chinese(AlignedText& text) {
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

  bool clean_, chinese_, lowercase_, strip_accents_;
};

/// One step without settings.
class NormalizerStep final : public Normalizer {
 public:
  explicit NormalizerStep(std::function<void(AlignedText&)> change) : change_(std::move(change)) {}
  void apply(AlignedText& text) const override { change_(text); }

 private:
  std::function<void(AlignedText&)> change_;
};

class Strip final : public Normalizer {
 public:
  explicit Strip(const Field& field) : left_(field.at("strip_left").flag()), right_(field.at("strip_right").flag()) {}
  void apply(AlignedText& text) const override {
    const auto view = text.text();
    std::size_t begin = 0;
    std::size_t end = view.size();
    for (std::size_t i = 0; left_ && i < end && is(next_character(view, i), classes::white_space);) {
      begin = i;
    }
    while (right_ && end > begin) {
      const auto start = previous_character(view, end);
      auto i = start;
      if (!is(next_character(view, i), classes::white_space)) {
        break;
      }
      end = start;
    }
    if (begin > 0 || end < view.size()) {
      text = text.part(begin, end);
    }
  }

 private:
  bool left_, right_;
};

class Replace final : public Normalizer {
 public:
  explicit Replace(const Field& field)
      : pattern_(read_pattern(field.at("pattern"))), content_(field.at("content").text()) {
    // The wheel expands $1 in the content of a regular expression.
    if (field.at("pattern").find("Regex") && content_.find('$') != std::string::npos) {
      field.at("content").refuse("\"$\" in the replacement of an expression", "groups are not supported");
    }
  }
  void apply(AlignedText& text) const override {
    std::vector<Match> parts;
    pattern_->find(text.text(), parts);
    std::vector<AlignedText::Range> ranges;
    for (const auto& part : parts) {
      if (part.is_match) {
        ranges.push_back({part.begin, part.end});
      }
    }
    if (!ranges.empty()) {
      text.replace(ranges, content_);
    }
  }

 private:
  std::unique_ptr<Pattern> pattern_;
  std::string content_;
};

class NormalizerSequence final : public Normalizer {
 public:
  explicit NormalizerSequence(const Field& field) {
    for (const auto& item : field.at("normalizers").items()) {
      steps_.push_back(read_normalizer(item));
    }
  }
  void apply(AlignedText& text) const override {
    for (const auto& step : steps_) {
      step->apply(text);
    }
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> steps_;
};

std::unique_ptr<Normalizer> make_normalizer_step(std::function<void(AlignedText&)> change) {
  return std::make_unique<NormalizerStep>(std::move(change));
}

std::unique_ptr<Normalizer> make_form(Form form, Composition composition) {
  return make_normalizer_step([form, composition](AlignedText& text) { make_normal(text, form, composition); });
}

}  // namespace

std::unique_ptr<Normalizer> read_normalizer(const Field& field) {
  const auto type = field.type();
  if (type == "BertNormalizer") {
    return std::make_unique<Bert>(field);
  }
  if (type == "Lowercase") {
    return make_normalizer_step(make_lowercase);
  }
  if (type == "NFD" || type == "NFKD") {
    return make_form(type == "NFD" ? Form::canonical : Form::compatible, Composition::none);
  }
  if (type == "NFC" || type == "NFKC") {
    return make_form(type == "NFC" ? Form::canonical : Form::compatible, Composition::composed);
  }
  if (type == "StripAccents") {
    return make_normalizer_step([](AlignedText& text) { drop(text, classes::combining_mark); });
  }
  if (type == "Strip") {
    return std::make_unique<Strip>(field);
  }
  if (type == "Prepend") {
    return make_normalizer_step([prefix = field.at("prepend").text()](AlignedText& text) { text.prepend(prefix); });
  }
  if (type == "Replace") {
    return std::make_unique<Replace>(field);
  }
  if (type == "ByteLevel") {
    return make_normalizer_step([](AlignedText& text) {
      AlignedText out = text.part(0, 0);
      append_byte_level(out, text, 0, text.size());
      text = std::move(out);
    });
  }
  if (type == "Sequence") {
    return std::make_unique<NormalizerSequence>(field);
  }
  if (type == "Precompiled") {
    return make_precompiled(field);
  }
  field.refuse_type(
      "BertNormalizer, Lowercase, NFD, NFC, NFKD, NFKC, StripAccents, Strip, Prepend, Precompiled, Replace, ByteLevel, "
      "Sequence");
}

}  // namespace stereosweep::tokenizer
