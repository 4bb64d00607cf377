#include <algorithm>
#include <map>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/axes/AxesReader.hpp"
#include "config/axes/AxisSource.hpp"
#include "corpus/Matcher.hpp"
#include "probes/contexts/Contexts.hpp"

namespace stereosweep::probes::contexts {
namespace {

/// The sets of one file by name.
using Sets = std::map<std::string, WordSet>;

std::vector<std::string> read_words(const config::Node& node, const std::string& key, base::Problems& problems) {
  auto words = config::read_lines(node, key, problems).value_or(std::vector<std::string>());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto place = node.children[i].place(key + "[" + std::to_string(i) + "]");
    if (const auto fault = corpus::fault_of(words[i]); !fault.empty()) {
      problems.add(place, "cannot look for " + base::json_quote(base::excerpt(words[i], 60)), fault);
    }
  }
  return words;
}

Sets read_sets(const config::Node* node, const std::string& key, base::Problems& problems) {
  Sets sets;
  if (node == nullptr ||
      !config::expect_kind(*node, config::Node::Kind::map, key, problems, config::Emptiness::refused)) {
    return sets;
  }
  for (std::size_t i = 0; i < node->keys.size(); ++i) {
    const std::string& name = node->keys[i];
    sets[name] = {name, read_words(node->children[i], key + "." + name, problems)};
  }
  return sets;
}

/// A document with tests: a piece, or `axes` of the job.
struct Document {
  Sets sets;
  const config::Node* tests = nullptr;
  std::string key;  ///< of `tests`
};

Document read_document(config::Fields& fields, base::Problems& problems) {
  Document document;
  document.sets = read_sets(fields.optional("sets"), fields.key_of("sets"), problems);
  document.tests = fields.required("tests");
  document.key = fields.key_of("tests");
  return document;
}

Document open_piece(const config::Node& piece, base::Problems& problems) {
  config::Fields fields(piece, "", problems);
  fields.piece_head();
  auto document = read_document(fields, problems);
  fields.finish();
  if (document.tests != nullptr &&
      !config::expect_kind(*document.tests, config::Node::Kind::list, "tests", problems, config::Emptiness::refused)) {
    document.tests = nullptr;
  }
  return document;
}

/// The keys of a test; `show_set(name, label where it has none of its own, set)` shows one of its sets.
void each_test_key(auto& keys, auto&& test, auto show_set) {
  keys.required_line("label", test.label, "unique");
  keys.line("title", test.title);
  keys.choice("kind", test.kind, {"weat", "wefat"}, "follows from whether there is a y");
  show_set("x", "X", test.x);
  show_set("y", "Y", test.y);
  show_set("a", "A", test.a);
  show_set("b", "B", test.b);
}

class TestsReader {
 public:
  TestsReader(config::Fields& job, Contexts& settings)
      : job_(job), problems_(job.problems()), labels_(job.problems()), settings_(settings) {}

  void read(config::Fields& fields) {
    const auto own = read_document(fields, problems_);
    fields.items("subjects", settings_.subjects);
    fields.items("omissions", settings_.omissions);
    if (own.tests != nullptr) {
      read_sources(own);
    }
  }

 private:
  void read_sources(const Document& own) {
    if (own.tests->kind != config::Node::Kind::list) {
      read_source(*own.tests, own.key, own);
    } else if (config::expect_kind(*own.tests, config::Node::Kind::list, own.key, problems_,
                                   config::Emptiness::refused)) {
      config::each_entry(*own.tests, own.key, problems_,
                         [&](const config::Node& entry, const std::string& key) { read_source(entry, key, own); });
    }
  }

  /// NAME, {file, only}, {groups, intersections, traits, form} or a test.
  void read_source(const config::Node& node, const std::string& key, const Document& own) {
    if (node.kind == config::Node::Kind::map && (node.find("groups") != nullptr || node.find("traits") != nullptr)) {
      add_group_tests(node, key);
    } else if (node.kind == config::Node::Kind::scalar ||
               (node.kind == config::Node::Kind::map && node.find("file") != nullptr)) {
      add_piece(node, key);
    } else {
      add(node, key, read_test(node, key, own.sets));
    }
  }

  const Document* piece(const std::string& name, const config::Node& user, const std::string& key) {
    if (const auto known = pieces_.find(name); known != pieces_.end()) {
      return &known->second;
    }
    const config::Node* found = job_.pieces().find("tests", name, user, key, problems_);
    if (found == nullptr || found->kind == config::Node::Kind::broken) {
      return nullptr;
    }
    return &pieces_.emplace(name, open_piece(*found, problems_)).first->second;
  }

  void add_piece(const config::Node& node, const std::string& key) {
    config::AxisSource source;
    std::string name;
    if (node.kind == config::Node::Kind::scalar) {
      name = node.value;
    } else {
      config::Fields fields(node, key, problems_);
      fields.required_line("file", name);
      fields.lines("only", source.only);
      source.only_node = fields.optional("only");
      source.only_key = key + ".only";
      fields.finish();
    }
    const Document* document = name.empty() ? nullptr : piece(name, node, key);
    if (document == nullptr || document->tests == nullptr) {
      return;
    }
    std::vector<config::Placed<EmbeddingTest>> entries;
    const auto read = [&](const config::Node& entry, const std::string& entry_key) {
      entries.push_back({read_test(entry, entry_key, document->sets), &entry, entry_key});
    };
    config::each_entry(*document->tests, document->key, problems_, read);
    for (auto& entry : config::select(std::move(entries), source, problems_)) {
      add(*entry.node, entry.key, std::move(entry));
    }
  }

  /// NAME of a set beside the tests, a list of words, {label, words}, or {file, set} of a piece.
  WordSet read_set(const config::Node& node, const std::string& key, const std::string& side, const Sets& sets) {
    if (node.kind == config::Node::Kind::list) {
      return {side, read_words(node, key, problems_)};
    }
    if (node.kind == config::Node::Kind::map && node.find("file") != nullptr) {
      std::string file;
      std::string name;
      config::Fields fields(node, key, problems_);
      fields.required_line("file", file);
      fields.required_line("set", name);
      fields.finish();
      const Document* document = file.empty() || name.empty() ? nullptr : piece(file, node, key);
      return document == nullptr ? WordSet{name, {}} : named_set(node, key, name, document->sets);
    }
    if (node.kind == config::Node::Kind::map) {
      WordSet set{side, {}};
      config::Fields fields(node, key, problems_);
      fields.line("label", set.label);
      if (const config::Node* words = fields.required("words")) {
        set.words = read_words(*words, key + ".words", problems_);
      }
      fields.finish();
      return set;
    }
    const auto name = config::read_line(node, key, problems_, 500);
    return name ? named_set(node, key, *name, sets) : WordSet{};
  }

  WordSet named_set(const config::Node& node, const std::string& key, const std::string& name, const Sets& sets) {
    if (const auto found = sets.find(name); found != sets.end()) {
      return found->second;
    }
    const auto names = base::mapped(sets, [](const auto& set) { return set.first; });
    problems_.add(node.place(key), "no set is called '" + base::excerpt(name, 60) + "'",
                  names.empty() ? "no 'sets' stand beside the tests" : "sets here: " + base::join(names, ", "),
                  config::suggest(name, names, problems_));
    return {name, {}};
  }

  EmbeddingTest read_test(const config::Node& node, const std::string& key, const Sets& sets) {
    EmbeddingTest test;
    config::Fields fields(node, key, problems_);
    const bool has_y = fields.optional("y") != nullptr;
    const auto kind = has_y ? EmbeddingTest::Kind::weat : EmbeddingTest::Kind::wefat;
    test.kind = kind;
    each_test_key(fields, test, [&](const std::string& name, const char* label, WordSet& set) {
      if (const config::Node* side = name == "y" ? fields.optional(name) : fields.required(name)) {
        set = read_set(*side, fields.key_of(name), label, sets);
      }
    });
    problems_.add_if(
        test.kind != kind, fields.place("kind"), std::string("the test is called ") + name_of(test.kind),
        has_y ? "wefat has one target set, and 'y' is given" : "weat compares two target sets, and 'y' is missing");
    test.kind = kind;
    fields.finish();
    return test;
  }

  /// One wefat test per trait pair: every group and intersection a target, the right pole's words A and the left
  /// pole's B, so that more is nearer to the right pole, as in human ratings (cao2022, "CEAT(g, A, B)").
  void add_group_tests(const config::Node& node, const std::string& key) {
    std::vector<sweep::Group> groups;
    sweep::IntersectionRule rule;
    rule.both_orders = false;
    std::vector<sweep::TraitPair> pairs;
    config::Fields fields(node, key, problems_, "{groups: ..., intersections: ..., traits: ..., form: plural}",
                          &job_.pieces());
    config::groups_keys(fields, groups, rule, config::GroupForms::any);
    if (const config::Node* list = fields.required("traits")) {
      pairs = config::read_traits(*list, key + ".traits", job_.pieces(), problems_);
    }
    auto form = sweep::NounForm::plural;
    fields.choice("form", form, TargetSubject::form_names);
    fields.finish();
    const auto targets = targets_of(node, key, groups, rule, form);
    std::size_t num_with_two_words = 0;
    for (const auto& pair : pairs) {
      EmbeddingTest test{pair.label,
                         pair.dimension,
                         EmbeddingTest::Kind::wefat,
                         targets,
                         {},
                         {pair.right.name, pair.right.words},
                         {pair.left.name, pair.left.words}};
      if (has_two_words(test)) {
        ++num_with_two_words;
      } else {
        add(node, key, std::move(test));
      }
    }
    problems_.add_if(num_with_two_words > 0, node.place(key),
                     base::counted(num_with_two_words, "trait pair") + " with one word on either side",
                     two_words_reason, "Take traits with more words, such as abc_traits.");
  }

  WordSet targets_of(const config::Node& node, const std::string& key, const std::vector<sweep::Group>& groups,
                     const sweep::IntersectionRule& rule, sweep::NounForm form) {
    const bool is_plural = form == sweep::NounForm::plural;
    auto list = sweep::list_subjects(groups, rule, {.singular = !is_plural, .plural = is_plural});
    WordSet targets{"groups", {}};
    for (const auto& subject : list.subjects) {
      const auto& word = is_plural ? subject.plural : subject.singular;
      if (word.empty()) {
        problems_.add(node.place(key), "the group '" + subject.label + "' has no such form",
                      is_plural ? "form: plural" : "form: singular");
      } else if (base::contains(targets.words, word)) {
        if (subject.kind == sweep::SubjectKind::intersection) {
          list.omissions.push_back({subject.components[0], base::join(std::span(subject.components).subspan(1), " + "),
                                    "same words as another subject: '" + word + "'"});
          continue;
        }
        problems_.add(node.place(key), "two groups are called '" + word + "'", "a target counts once");
      }
      targets.words.push_back(word);
      add_subject(node, key,
                  {word,
                   form,
                   subject.label,
                   is_plural ? "" : subject.article,
                   base::join(subject.domains, " x "),
                   subject.components.front(),
                   subject.components.size() > 1 ? subject.components[1] : "",
                   {subject.components.begin() + std::min<std::ptrdiff_t>(2, std::ssize(subject.components)),
                    subject.components.end()}});
    }
    for (const auto& omission : list.omissions) {
      base::add_once(settings_.omissions, omission);
    }
    return targets;
  }

  void add_subject(const config::Node& node, const std::string& key, TargetSubject subject) {
    const auto known = std::ranges::find(settings_.subjects, subject.word, &TargetSubject::word);
    if (known == settings_.subjects.end()) {
      settings_.subjects.push_back(std::move(subject));
    } else if (!(*known == subject)) {
      problems_.add(node.place(key),
                    "the target '" + subject.word + "' is '" + subject.label + "' here and '" + known->label +
                        "' in another test",
                    "a target is one group", "Give both tests the same groups.");
    }
  }

  void add(const config::Node& node, const std::string& key, EmbeddingTest test) {
    labels_.add(node, key, test.label);
    check_overlap(node, key, test.label, test.x, test.y, "X and Y");
    check_overlap(node, key, test.label, test.a, test.b, "A and B");
    problems_.add_if(has_two_words(test), node.place(key),
                     "the test '" + test.label + "' compares one word with one other", two_words_reason,
                     "Give a set more words.");
    settings_.tests.push_back(std::move(test));
  }

  static constexpr const char* two_words_reason =
      "the deviation of two numbers is their difference, so every effect size would be the square root of 2";

  static bool has_two_words(const EmbeddingTest& test) {
    return std::ranges::all_of(test.compared(), [](const auto* set) { return set->words.size() == 1; });
  }

  void check_overlap(const config::Node& node, const std::string& key, const std::string& label, const WordSet& first,
                     const WordSet& second, const std::string& sides) {
    for (const auto& word : first.words) {
      if (base::contains(second.words, word)) {
        problems_.add(node.place(key), "'" + word + "' stands in both " + sides + " of the test '" + label + "'",
                      "a word on both sides pulls both means together", "Leave it out of one of them.");
      }
    }
  }

  config::Fields& job_;
  base::Problems& problems_;
  config::LabelCheck labels_;
  std::map<std::string, Document> pieces_;
  Contexts& settings_;
};

config::Node dump(const EmbeddingTest& test) {
  config::ShownKeys keys;
  each_test_key(keys, test, [&](const std::string& name, const char* /*label*/, const WordSet& set) {
    if (name != "y" || test.is_weat()) {
      keys.nested(name, [&](config::ShownKeys& own) {
        own.add("label", config::Node::text(set.label));
        own.lines("words", set.words);
      });
    }
  });
  return keys.take();
}

base::Json test_schema() {
  auto words = config::ShownKeys::of_schema();
  words.line("label", "");
  words.required_lines("words", {});
  auto piece = config::ShownKeys::of_schema();
  piece.required_line("file", "");
  piece.required_line("set", "");
  const auto any =
      config::either_schema({config::text_schema(), config::lines_schema(), words.take_schema(), piece.take_schema()});
  auto keys = config::ShownKeys::of_schema();
  each_test_key(keys, EmbeddingTest(), [&](const std::string& name, const char* /*label*/, const WordSet& /*set*/) {
    (name == "y" ? keys : keys.needed()).describe(name, any, "a set, its words, or {file, set}");
  });
  return keys.take_schema();
}

base::Json group_tests_schema() {
  auto keys = config::ShownKeys::of_schema();
  config::groups_keys(keys, {}, {}, config::GroupForms::any);
  keys.needed().describe("traits",
                         config::source_schema(config::either_schema(
                             {config::pair_schema(config::text_schema()), config::fields_schema<sweep::TraitPair>()})));
  keys.choice("form", sweep::NounForm::plural, TargetSubject::form_names);
  return keys.take_schema();
}

base::Json tests_schema() {
  const auto one = config::either_schema({config::source_schema(test_schema()), test_schema(), group_tests_schema()});
  return config::either_schema({one, config::list_schema(one)});
}

}  // namespace

void test_keys(config::Fields& axes, Contexts& settings) { TestsReader(axes, settings).read(axes); }

void test_keys(config::ShownKeys& axes, const Contexts& settings) {
  axes.own("sets", {}, "named lists of words", [] { return config::names_schema(config::lines_schema()); });
  axes.needed().own("tests", config::list_of(settings.tests, [](const auto& test) { return dump(test); }),
                    "a name in configs/tests, tests, or groups and traits", tests_schema);
  // That a target is a group changes no number but those of its sentences.
  if (axes.describes() || !settings.subjects.empty()) {
    axes.not_raw().items("subjects", settings.subjects, "of a resolved job");
  }
  if (axes.describes() || !settings.omissions.empty()) {
    axes.not_raw().items("omissions", settings.omissions, "of a resolved job");
  }
}

}  // namespace stereosweep::probes::contexts
