#include <algorithm>
#include <cmath>

#include "base/Log.hpp"
#include "base/Text.hpp"
#include "config/AxisSource.hpp"
#include "config/Language.hpp"
#include "probes/rating/Rating.hpp"
#include "probes/rating/RatingSettings.hpp"

namespace stereosweep::probes::rating {
namespace {

/// Each placeholder stands exactly once, and there is no other brace.
void check_placeholders(const config::Node& node, const std::string& key, const std::string& text,
                        const std::vector<std::string>& placeholders, base::Problems& problems) {
  for (const auto& placeholder : placeholders) {
    if (const auto times = base::count_of(text, placeholder); times != 1) {
      problems.add(node.place(key),
                   std::to_string(times) + " times " + placeholder + " in '" + text.substr(0, 60) + "'",
                   "exactly one is expected");
    }
  }
  if (base::count_of(text, "{") > placeholders.size() || base::count_of(text, "}") > placeholders.size()) {
    problems.add(node.place(key), "an unknown placeholder in '" + text.substr(0, 60) + "'",
                 "known: " + base::join(placeholders, ", "));
  }
}

template <class Item, class Read>
std::vector<Item> read_axis(const config::Node& node, const std::string& kind, const config::ProbeReading& job,
                            Read read) {
  config::AxisSource source = config::find_source(node, kind, "axes." + kind, job.pieces, job.problems);
  if (!source.table.empty()) {
    job.problems.add(node.place("axes." + kind), "no table can be read here", "this axis is a list");
  }
  std::vector<Item> items;
  config::LabelCheck labels(job.problems);
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    const config::Node& entry = source.list->children[i];
    const std::string key = source.key + "[" + std::to_string(i) + "]";
    for (auto& item : read(entry, key)) {
      labels.add(entry, key, item.label);
      items.push_back(std::move(item));
    }
  }
  return config::select(std::move(items), source, job.problems);
}

/// A marker is crossed with every word for people.
std::vector<Identity> read_identities(const config::Node& node, const std::vector<std::string>& people,
                                      const config::ProbeReading& job) {
  return read_axis<Identity>(node, "identities", job, [&](const config::Node& entry, const std::string& key) {
    std::string marker;
    std::string definition;
    std::string label;
    std::string own_people;
    config::Fields fields(entry, key, job.problems,
                          "{marker: old, definition: 'Old {people} are {people} who are aged 65 and over.'}");
    fields.line("label", label);
    fields.required_line("marker", marker);
    fields.line("people", own_people);
    fields.required_line("definition", definition);
    fields.finish();
    config::check_surface(entry, key, marker, job.problems);
    std::vector<Identity> identities;
    if (!own_people.empty()) {  // resolved: a finished identity
      identities.push_back({label, marker, own_people, definition});
      return identities;
    }
    check_placeholders(entry, key + ".definition", definition, {"{people}"}, job.problems);
    for (const auto& word : people) {
      identities.push_back({marker + " " + word, marker, word, base::replace_all(definition, "{people}", word)});
    }
    return identities;
  });
}

std::vector<RatedTrait> read_rated_traits(const config::Node& node, const config::ProbeReading& job) {
  return read_axis<RatedTrait>(node, "rated_traits", job, [&](const config::Node& entry, const std::string& key) {
    RatedTrait trait;
    config::Fields fields(entry, key, job.problems,
                          "{label: friendly, dimension: warmth, definition: 'Friendly means ...', polarity: positive}");
    fields.required_line("label", trait.label);
    fields.required_line("dimension", trait.dimension);
    fields.required_line("definition", trait.definition);
    if (const config::Node* polarity = fields.optional("polarity")) {
      const std::vector<std::string> names = {"positive", "negative"};
      trait.polarity = static_cast<RatedTrait::Polarity>(
          config::read_choice(*polarity, key + ".polarity", job.problems, names).value_or(0));
    }
    fields.finish();
    config::check_surface(entry, key, trait.label, job.problems);
    return std::vector{trait};
  });
}

std::vector<RatingQuestion> read_questions(const config::Node& node, const config::ProbeReading& job) {
  return read_axis<RatingQuestion>(
      node, "rating_questions", job, [&](const config::Node& entry, const std::string& key) {
        RatingQuestion question;
        if (entry.kind == config::Node::Kind::scalar) {
          question.text = config::read_line(entry, key, job.problems).value_or("");
        } else {
          config::Fields fields(entry, key, job.problems, "{label: ..., text: 'How {trait} are {identity}?'}");
          fields.line("label", question.label);
          fields.line("style", question.style);
          fields.required_line("text", question.text);
          fields.finish();
        }
        question.label = question.label.empty() ? question.text : question.label;
        check_placeholders(entry, key + ".text", question.text, {"{identity}", "{trait}"}, job.problems);
        return std::vector{question};
      });
}

std::vector<RatingOption> default_scale() {
  return {{"extremely", 5}, {"very", 4}, {"average", 3}, {"slightly", 2}, {"not at all", 1}};
}

std::vector<RatingOption> read_scale(const config::Node& node, base::Problems& problems) {
  std::vector<RatingOption> scale;
  if (!config::expect_kind(node, config::Node::Kind::list, "scale", problems, config::Emptiness::refused)) {
    return scale;
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const std::string key = "scale[" + std::to_string(i) + "]";
    const auto pair = config::read_two(node.children[i], key, problems);
    if (!pair) {
      continue;
    }
    const auto value = base::parse_double(pair->second);
    if (!value) {
      problems.add(node.children[i].place(key), "'" + pair->second.substr(0, 40) + "' is no number",
                   "an option is [text, value]");
    }
    config::check_surface(node.children[i], key, pair->first, problems);
    for (const auto& other : scale) {
      if (other.text == pair->first || other.value == value) {
        problems.add(node.children[i].place(key), "option '" + pair->first + "' repeats a text or a value",
                     "options must differ");
      }
    }
    scale.push_back({pair->first, value.value_or(static_cast<double>(i))});
  }
  if (scale.size() < 2 || scale.size() > 26) {
    problems.add(node.place("scale"), std::to_string(scale.size()) + " options", "2 to 26 are expected: A to Z");
  }
  return scale;
}

void read_number(config::Fields& fields, const std::string& name, double& target, double smallest, double largest,
                 base::Problems& problems) {
  if (const config::Node* node = fields.optional(name)) {
    const auto text = config::read_text(*node, fields.key_of(name), problems);
    const auto value = text ? base::parse_double(*text) : std::nullopt;
    if (text && (!value || *value < smallest || *value > largest)) {
      problems.add(
          node->place(fields.key_of(name)), "'" + text->substr(0, 40) + "' is out of range",
          "a number from " + base::format_double(smallest) + " to " + base::format_double(largest) + " is expected");
    }
    target = value.value_or(target);
  }
}

RatingSampling read_sampling(const config::Node& node, base::Problems& problems) {
  RatingSampling sampling;
  if (node.kind == config::Node::Kind::scalar) {
    const std::vector<std::string> names = {"none"};
    config::read_choice(node, "sampling", problems, names);
    sampling.runs = 0;
    return sampling;
  }
  config::Fields fields(node, "sampling", problems);
  fields.integer("runs", sampling.runs, 0, 1000);
  fields.integer("max_new_tokens", sampling.max_new_tokens, 1, 4096);
  fields.integer("top_k", sampling.top_k, 0, 1'000'000);
  read_number(fields, "temperature", sampling.temperature, 0, 100, problems);
  read_number(fields, "top_p", sampling.top_p, 1e-6, 1, problems);
  if (const config::Node* stop = fields.optional("stop")) {
    for (std::size_t i = 0;
         config::expect_kind(*stop, config::Node::Kind::list, "sampling.stop", problems) && i < stop->children.size();
         ++i) {
      const auto text = config::read_text(stop->children[i], "sampling.stop", problems).value_or("");
      if (text.empty()) {
        problems.add(stop->children[i].place("sampling.stop"), "an empty stop text",
                     "it would end every answer at once");
      }
      sampling.stop.push_back(text);
    }
  }
  fields.finish();
  if (sampling.runs == 0) {  // the rest says nothing then, and a dump does not keep it
    sampling = RatingSampling();
    sampling.runs = 0;
    return sampling;
  }
  if (sampling.temperature == 0 && sampling.runs > 1) {
    problems.add(node.place("sampling.runs"), std::to_string(sampling.runs) + " runs at temperature 0",
                 "greedy answers are all the same", "Set runs: 1, or a temperature.");
  }
  return sampling;
}

RatingStatistics read_rating_statistics(const config::Node& node, const config::ProbeReading& job) {
  RatingStatistics statistics;
  config::Fields fields(node, "statistics", job.problems);
  if (const config::Node* path = fields.optional("human_ratings")) {
    statistics.human_ratings =
        job.pieces.resolve_path(config::read_line(*path, "statistics.human_ratings", job.problems, 4000).value_or(""));
  }
  if (const config::Node* clusters = fields.optional("clusters")) {
    config::Fields settings(*clusters, "statistics.clusters", job.problems);
    if (const config::Node* start = settings.optional("start")) {
      const std::vector<std::string> names = {"plus_plus", "random"};
      statistics.start = static_cast<RatingStatistics::Start>(
          config::read_choice(*start, "statistics.clusters.start", job.problems, names).value_or(0));
    }
    settings.integer("restarts", statistics.restarts, 1000, 10'000'000);
    settings.integer("max_clusters", statistics.max_clusters, 1, 100);
    settings.finish();
  }
  fields.finish();
  return statistics;
}

void check_product(const config::ProbeReading& job, const Rating& settings) {
  std::uint64_t cells = settings.scale.size();
  bool overflow = false;
  for (const std::size_t length : {settings.identities.size(), settings.traits.size(), settings.questions.size()}) {
    overflow = overflow || __builtin_mul_overflow(cells, std::uint64_t{length}, &cells);
  }
  if (overflow || cells > static_cast<std::uint64_t>(job.execution.max_cells)) {
    job.problems.add(job.root.place("axes"),
                     base::with_thousands(settings.identities.size()) + " identities x " +
                         base::with_thousands(settings.traits.size()) + " traits x " +
                         base::with_thousands(settings.questions.size()) + " questions x options are too many cells",
                     "limit: " + base::with_thousands(static_cast<std::uint64_t>(job.execution.max_cells)),
                     "Shorten an axis, or raise execution.max_cells.");
  }
}

/// The words for people, where the job names none, are English: said where the questions are not.
void note_language(const Rating& settings, const config::Node* people, const config::ProbeReading& job) {
  std::vector<std::string> texts;
  for (const auto& question : settings.questions) {
    texts.push_back(question.text);
  }
  if (people == nullptr && !job.pieces.inline_only() && !config::seems_english(texts)) {
    base::log_once(base::LogLevel::warning,
                   base::describe("the questions seem not to be English, and the identities end with the English "
                                  "'women' and 'men'",
                                  "", "Set axes.people: [..., ...]."));
  }
}

}  // namespace

Rating read_settings(const config::ProbeReading& job) {
  Rating settings;
  if (const config::Node* node = job.fields.required("axes")) {
    config::Fields axes(*node, "axes", job.problems);
    std::vector<std::string> people = {"women", "men"};
    const config::Node* words = axes.optional("people");
    if (words != nullptr) {
      people = config::read_lines(*words, "axes.people", job.problems).value_or(std::vector<std::string>());
    }
    if (const config::Node* identities = axes.required("identities")) {
      settings.identities = read_identities(*identities, people, job);
    }
    if (const config::Node* traits = axes.required("rated_traits")) {
      settings.traits = read_rated_traits(*traits, job);
    }
    if (const config::Node* questions = axes.required("rating_questions")) {
      settings.questions = read_questions(*questions, job);
    }
    axes.finish();
    note_language(settings, words, job);
  }
  const config::Node* scale = job.fields.optional("scale");
  settings.scale = scale != nullptr ? read_scale(*scale, job.problems) : default_scale();
  if (const config::Node* frame = job.fields.optional("frame")) {
    settings.frame = config::read_text(*frame, "frame", job.problems).value_or("");
    check_placeholders(*frame, "frame", settings.frame,
                       {"{identity_definition}", "{trait_definition}", "{question}", "{options}"}, job.problems);
  }
  if (const config::Node* sampling = job.fields.optional("sampling")) {
    settings.sampling = read_sampling(*sampling, job.problems);
  }
  if (const config::Node* statistics = job.fields.optional("statistics")) {
    settings.statistics = read_rating_statistics(*statistics, job);
  }
  check_product(job, settings);
  return settings;
}

}  // namespace stereosweep::probes::rating
