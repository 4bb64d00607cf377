// What the program itself writes into sentences of another language than English: articles, generic words, and the
// words that lose their capital inside a rephrasing. One table per language, configs/languages/NAME.yaml.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/yaml/Yaml.hpp"
#include "sweep/Axes.hpp"

namespace stereosweep::config {

class Pieces;

/// A noun for people in general.
struct GenericWord {
  std::string singular;
  std::string plural;
  std::string gender;
};

class LanguageTable {
 public:
  /// English: the program's own rules.
  LanguageTable() = default;
  /// The table that `node` (the key `language` of a job) names: "en", a name under configs/languages, or a path. Faults
  /// go to `problems`; English then, whose rules report no more.
  static LanguageTable read(const Node& node, Pieces& pieces, base::Problems& problems);

  const std::string& name() const { return name_; }
  bool is_english() const { return name_ == "en"; }
  /// What intersections and words of no group follow.
  const sweep::ArticleRule& articles() const { return articles_; }
  /// Nothing: English, or the table has none.
  const std::optional<GenericWord>& generic() const { return generic_; }
  /// "women", "men": what ends the identities of a rating; empty: the table has none.
  const std::vector<std::string>& people() const { return people_; }
  /// "to": what stands between the ends of a scale of numbers; empty: the table has none.
  const std::string& between() const { return between_; }
  /// Whether groups have a gender; their article is that of the gender.
  bool has_genders() const { return !by_gender_.empty(); }
  /// Article of what declares `article`, or `gender` (either may be empty). Reports words that the table does not have
  /// at `node`.
  std::string article_of(const Node& node, const std::string& key, const std::string& article,
                         const std::string& gender, base::Problems& problems) const;
  /// The template as it stands inside a rephrasing; "": the rule of English (sweep::lower_function_word).
  std::string inside(const std::string& text) const;

 private:
  void read_articles(const Node& node, base::Problems& problems);
  std::vector<std::string> all_articles() const;

  std::string name_ = "en";
  sweep::ArticleRule articles_;
  std::vector<std::pair<std::string, std::string>> by_gender_;
  std::optional<GenericWord> generic_;
  std::vector<std::string> people_;
  std::string between_;
  std::vector<std::string> function_words_;
};

// Whether a job's sentences are English: what the program itself adds to them is.

/// Judged by the commonest words of English and of other languages, without what stands in braces. True where the
/// words are too few to tell.
bool seems_english(std::span<const std::string> texts);

}  // namespace stereosweep::config
