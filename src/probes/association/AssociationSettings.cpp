#include <algorithm>
#include <tuple>

#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/language/LanguageTable.hpp"
#include "probes/association/Association.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes::association {
namespace {

using config::Node;
using config::ProbeReading;

/// The prior word as it is written.
struct GenericWord {
  std::string singular;
  std::string plural;
  std::string article;
  std::string gender;
  static void each_key(auto& self, auto& keys) {
    keys.required_line("singular", self.singular);
    keys.required_line("plural", self.plural);
    keys.line("article", self.article);
    keys.line("gender", self.gender, "in languages whose articles depend on it");
  }
};

/// With its article, where nouns declare theirs.
void read_generic_word(const Node& node, const config::Fields& job, sweep::Priors& priors) {
  GenericWord word;
  config::read_fields(node, "priors.word", job.problems(), word,
                      "{singular: Person, plural: Personen, gender: feminine}");
  const auto& [singular, plural, article, gender] = word;
  priors.word_singular = singular.empty() ? priors.word_singular : singular;
  priors.word_plural = plural.empty() ? priors.word_plural : plural;
  config::check_surface(node, "priors.word", priors.word_singular, job.problems());
  config::check_surface(node, "priors.word", priors.word_plural, job.problems());
  priors.word_article = job.pieces().holds_language()
                            ? article
                            : job.pieces().language().article_of(node, "priors.word", article, gender, job.problems());
}

/// {a group} stands before the generic word, too.
void check_prior_article(const ProbeReading& job, const Association& settings) {
  const auto& [axes, measures, priors, design, statistics] = settings;
  const bool is_asked = std::ranges::any_of(
      axes.templates, [](const auto& sentence) { return sentence.text.find("{a group}") != std::string::npos; });
  job.problems.add_if(
      axes.intersections.articles.by == sweep::ArticleRule::By::noun && is_asked && (priors.word || priors.mask) &&
          priors.word_article.empty(),
      job.place("priors"), "{a group} needs an article before '" + priors.word_singular + "'",
      "in the job's language it is the noun's",
      "Set priors.word: {singular: " + priors.word_singular + ", plural: " + priors.word_plural + ", gender: ...}.");
}

/// The templates that statistics are averaged over are the job's.
void check_averaged(const ProbeReading& job, const Association& settings) {
  const auto labels = base::mapped(settings.axes.templates, &sweep::Template::label);
  for (const auto& label : settings.statistics.templates) {
    if (!base::contains(labels, label) && !labels.empty()) {  // no template at all is in the report already
      job.problems.add(job.statistics.place("templates"), "unknown template '" + label + "'",
                       "it is not on the axis templates", config::suggest(label, labels, job.problems));
    }
  }
}

void check_size(const ProbeReading& job, const Association& settings) {
  const auto& axes = settings.axes;
  const std::uint64_t num_subjects = sweep::most_subjects(axes.groups, axes.intersections) + 2;  // priors
  std::uint64_t num_words = 0;  // a word of two poles counts twice, as in the result
  for (const auto& pair : axes.traits) {
    num_words += pair.left.words.size() + pair.right.words.size();
  }
  config::check_cells(job, {{num_subjects, "groups and intersections"},
                            {axes.templates.size(), "templates"},
                            {axes.rephrasings.size(), "rephrasings"},
                            {num_words, "words"}});
}

/// What the program writes itself is English: said where the sentences are not.
void note_language(const Association& settings) {
  auto texts = base::mapped(settings.axes.templates, &sweep::Template::text);
  for (const auto& rephrasing : settings.axes.rephrasings) {
    texts.push_back(rephrasing.wrapper);
    for (const auto& [label, text] : rephrasing.alternatives) {
      texts.push_back(text);
    }
  }
  if (config::seems_english(texts)) {
    return;
  }
  const auto has_article = [](const std::string& text) { return text.find("{a group}") != std::string::npos; };
  if (std::ranges::any_of(texts, has_article)) {
    base::log_once(
        base::LogLevel::warning,
        base::describe("the templates seem not to be English, and {a group} writes the English 'a' or 'an'", "",
                       "Set language: NAME (configs/languages), or put the article into the text and write {group}."));
  }
  const sweep::Priors english;
  if (settings.priors.word && settings.priors.word_plural == english.word_plural) {
    base::log_once(base::LogLevel::warning,
                   base::describe("the templates seem not to be English, and the prior is asked with the English '" +
                                      english.word_singular + "' and '" + english.word_plural + "'",
                                  "every score is a difference to it",
                                  "Set language: NAME (configs/languages), or priors.word: [singular, plural]."));
  }
}

config::Node dump_word(const sweep::Priors& priors) {
  if (!priors.word) {
    return config::Node::plain("false");
  }
  return priors.word_article.empty()
             ? config::texts({priors.word_singular, priors.word_plural})
             : config::dump_fields(GenericWord{priors.word_singular, priors.word_plural, priors.word_article, ""});
}

base::Json word_schema() {
  return config::either_schema(
      {config::boolean_schema(), config::pair_schema(config::text_schema()), config::fields_schema<GenericWord>()});
}

}  // namespace

void take_generic_word(const config::LanguageTable& language, sweep::Priors& priors) {
  if (const auto& generic = language.generic()) {
    base::Problems told;  // where the table was read
    priors.word_singular = generic->singular;
    priors.word_plural = generic->plural;
    priors.word_article = language.article_of(config::Node(), "", "", generic->gender, told);
  }
}

void priors_key(config::Fields& keys, sweep::Priors& priors) {
  keys.nested("priors", [&](config::Fields& fields) {
    const Node* word = fields.optional("word");
    if (word != nullptr && word->kind == Node::Kind::map) {
      read_generic_word(*word, fields, priors);
    } else if (word != nullptr && word->kind == Node::Kind::list) {
      priors.word_article.clear();
      if (const auto two = config::read_two(*word, "priors.word", fields.problems())) {
        std::tie(priors.word_singular, priors.word_plural) = *two;
        config::check_surface(*word, "priors.word", two->first, fields.problems());
        config::check_surface(*word, "priors.word", two->second, fields.problems());
      }
    } else {
      fields.boolean("word", priors.word);
    }
    fields.boolean("mask", priors.mask);
  });
}

void priors_key(config::ShownKeys& keys, const sweep::Priors& priors) {
  const auto visit = [&](config::ShownKeys& fields) {
    fields.own("word", dump_word(priors), "a generic noun in the place of the group: [person, people]", word_schema);
    fields.boolean("mask", priors.mask, "a mask in the place of the group");
  };
  keys.told_by_block().nested("priors", visit, "what scores are differences to");
}

void check_settings(const config::ProbeReading& job, Association& settings) {
  std::ranges::sort(settings.measures);
  if (!settings.priors.word) {  // the words say nothing then, and a dump does not keep them
    settings.priors.word_singular = sweep::Priors().word_singular;
    settings.priors.word_plural = sweep::Priors().word_plural;
    settings.priors.word_article = settings.priors.mask ? settings.priors.word_article : "";
  }
  check_averaged(job, settings);
  check_size(job, settings);
  check_prior_article(job, settings);
  if (!job.pieces.holds_language() && job.pieces.language().is_english()) {
    note_language(settings);
  }
}

}  // namespace stereosweep::probes::association
