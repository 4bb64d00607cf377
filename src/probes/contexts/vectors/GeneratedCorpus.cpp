#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/Random.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "probes/contexts/vectors/ContextSample.hpp"
#include "sweep/Composer.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::probes::contexts {
namespace {

/// A template in a rephrasing.
struct Frame {
  const sweep::Template* sentence;
  const sweep::Rephrasing* rephrasing;
  std::string label;
  std::uint32_t name;
};

/// A word as it stands in a frame, beside a word of the other kind.
enum class Place : std::uint8_t { group, trait };
struct Sentence {
  std::uint64_t key = 0;
  Place place = Place::group;
  std::uint32_t frame = 0;
  std::uint32_t partner = 0;  ///< index in the list of words
};

class Generator {
 public:
  Generator(const Contexts& settings, std::uint64_t seed)
      : settings_(settings), seed_(seed), words_(list_words(settings.tests)), partners_(words_.size()) {
    const auto& corpus = settings.contextual().corpus;
    for (const auto& sentence : corpus.templates) {
      for (const auto& rephrasing : corpus.rephrasings) {
        const auto label = sentence.label + ", " + rephrasing.label;
        frames_.push_back({&sentence, &rephrasing, label, draw_name(label)});
      }
    }
    for (std::uint32_t place = 0; place < words_.size(); ++place) {
      places_.emplace(words_[place], place);
      names_.push_back(draw_name(words_[place]));
      subjects_.push_back(subject_of(words_[place]));
    }
    for (const auto& test : settings.tests) {
      pair_words(test);
    }
  }

  corpus::Sample take() {
    corpus::Sample sample;
    sample.max_contexts = static_cast<std::uint64_t>(settings_.contextual().corpus.max_contexts);
    for (std::uint32_t word = 0; word < words_.size(); ++word) {
      auto sentences = sentences_of(word);
      auto& found = sample.words.emplace_back();
      found.word = words_[word];
      found.occurrences = sentences.size();
      sample.lines += static_cast<std::uint64_t>(
          std::ranges::count(sentences, Place::group, [](const auto& sentence) { return sentence.place; }));
      std::ranges::sort(sentences, {}, [](const auto& sentence) {
        return std::tuple(sentence.key, sentence.place, sentence.frame, sentence.partner);
      });
      sentences.resize(std::min<std::uint64_t>(sentences.size(), sample.max_contexts));
      for (const auto& sentence : sentences) {
        found.contexts.push_back(compose(word, sentence));
      }
      std::ranges::sort(found.contexts, corpus::comes_before);
    }
    return sample;
  }

 private:
  struct Partners {
    std::set<std::uint32_t> attributes;  ///< beside the word as a target
    std::set<std::uint32_t> targets;     ///< beside the word as an attribute
  };

  /// As the composer wants it; any other word stands as it is, whatever form a template asks for.
  sweep::Subject subject_of(const std::string& word) const {
    const auto known = std::ranges::find(settings_.subjects, word, &TargetSubject::word);
    sweep::Subject subject;
    subject.label = word;
    if (known == settings_.subjects.end()) {
      subject.singular = subject.plural = word;
      subject.article = sweep::indefinite_article(word);
    } else if (known->form == sweep::NounForm::singular) {
      subject.singular = word;
      subject.article = known->article;
    } else {
      subject.plural = word;
    }
    return subject;
  }

  bool fits(std::uint32_t target, const Frame& frame) const {
    const bool is_singular = frame.sentence->form == sweep::NounForm::singular;
    return !(is_singular ? subjects_[target].singular : subjects_[target].plural).empty();
  }

  void pair_words(const EmbeddingTest& test) {
    const auto places_of = [&](const WordSet& first, const WordSet& second) {
      std::set<std::uint32_t> places;
      for (const auto* words : {&first.words, &second.words}) {
        std::ranges::transform(*words, std::inserter(places, places.end()),
                               [&](const auto& word) { return places_.at(word); });
      }
      return places;
    };
    const auto targets = places_of(test.x, test.y);
    const auto attributes = places_of(test.a, test.b);
    for (const auto target : targets) {
      partners_[target].attributes.insert(attributes.begin(), attributes.end());
    }
    for (const auto attribute : attributes) {
      partners_[attribute].targets.insert(targets.begin(), targets.end());
    }
  }

  /// With the keys of the draw.
  std::vector<Sentence> sentences_of(std::uint32_t word) const {
    std::vector<Sentence> sentences;
    for (std::uint32_t frame = 0; frame < frames_.size(); ++frame) {
      for (const auto place : {Place::group, Place::trait}) {
        const bool is_target = place == Place::group;
        const auto own =
            base::random_bits(seed_, std::uint64_t{names_[word]} << 1U | (is_target ? 0U : 1U), frames_[frame].name);
        for (const auto partner : is_target ? partners_[word].attributes : partners_[word].targets) {
          if (fits(is_target ? word : partner, frames_[frame])) {
            sentences.push_back({base::mix_bits(own ^ names_[partner]), place, frame, partner});
          }
        }
      }
    }
    return sentences;
  }

  corpus::Context compose(std::uint32_t word, const Sentence& sentence) const {
    const auto& frame = frames_[sentence.frame];
    const bool is_target = sentence.place == Place::group;
    const auto& subject = subjects_[is_target ? word : sentence.partner];
    const auto context = composer_.compose(subject, *frame.sentence, *frame.rephrasing);
    auto text = sweep::with_trait(context, words_[is_target ? sentence.partner : word]);
    const auto after_trait = text.size() - context.after.size();
    base::Span span{context.before.size(), after_trait};
    if (is_target) {
      const auto moved = context.group_side == sweep::GroupSide::before_trait ? 0 : after_trait;
      span = {context.group_span.begin + moved, context.group_span.end + moved};
    }
    return {std::move(text), span, sentence.key, frame.label, sentence.partner};
  }

  const Contexts& settings_;
  std::uint64_t seed_;
  sweep::Composer composer_{""};
  std::vector<std::string> words_;
  std::vector<Partners> partners_;
  std::vector<Frame> frames_;
  std::unordered_map<std::string, std::uint32_t> places_;
  std::vector<std::uint32_t> names_;  ///< of words, in draws
  std::vector<sweep::Subject> subjects_;
};

}  // namespace

corpus::Sample generate_contexts(const Contexts& settings, std::uint64_t seed) {
  return Generator(settings, seed).take();
}

}  // namespace stereosweep::probes::contexts
