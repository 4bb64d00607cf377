#include "probes/rating/RatingProbe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/Check.hpp"
#include "base/Error.hpp"
#include "base/Random.hpp"
#include "base/Text.hpp"
#include "stats/Undefined.hpp"
#include "sweep/ChatPrompt.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::probes::rating {
namespace {

using stats::nan;

std::string letter(std::size_t place) { return {static_cast<char>('A' + place)}; }

/// What stands between the prompt and an answer: a blank, or what the chat format writes before an answer.
std::string lead(const sweep::Job& job) {
  if (!job.model.chat) {
    return " ";
  }
  const auto& chat = *job.model.chat;
  return chat.assistant.prefix.starts_with(chat.generation) ? chat.assistant.prefix.substr(chat.generation.size()) : "";
}

/// Replaces every placeholder once, from left to right: what is put in is not searched again.
std::string fill_in(const std::string& frame, const std::vector<std::pair<std::string, std::string>>& texts) {
  std::string out;
  for (std::size_t at = 0; at < frame.size();) {
    const auto found = std::find_if(texts.begin(), texts.end(), [&](const auto& text) {
      return frame.compare(at, text.first.size(), text.first) == 0;
    });
    out += found == texts.end() ? frame.substr(at, 1) : found->second;
    at += found == texts.end() ? 1 : found->first.size();
  }
  return out;
}

/// Takes a place out, with the blank beside it; a line that is empty then goes, with an empty one after it.
void take_out(std::string& frame, std::string_view name) {
  const auto at = frame.find(name);
  if (at == std::string::npos) {
    return;
  }
  frame.erase(at, name.size());
  const auto starts_line = at == 0 || frame[at - 1] == '\n';
  if (at < frame.size() && frame[at] == ' ' && (starts_line || frame[at - 1] == ' ')) {
    frame.erase(at, 1);
  } else if (!starts_line && frame[at - 1] == ' ' && (at == frame.size() || frame[at] == '\n')) {
    frame.erase(at - 1, 1);
  }
  if (starts_line && at < frame.size() && frame[at] == '\n') {
    frame.erase(at, at + 1 < frame.size() && frame[at + 1] == '\n' ? 2 : 1);
  }
}

/// The group's words in their place; with a capital where a group of the axis `groups` opens the sentence.
std::string with_group(std::string text, const Rating& rating, const std::string& plural) {
  for (const std::string_view name : {"{group}", "{identity}"}) {
    const auto at = text.find(name);
    if (at != std::string::npos) {
      const bool opens = !rating.groups.empty() &&
                         sweep::opens_sentence_at(text.substr(0, at), std::string_view(text).substr(at + name.size()));
      return text.replace(at, name.size(), opens ? sweep::capitalise(plural) : plural);
    }
  }
  return text;
}

/// A question inside the wrapper; unchanged where nothing is put around it.
std::string wrapped(const std::string& question, const std::string& wrapper) {
  const std::string_view mark = "{prompt}";
  const auto at = wrapper.find(mark);
  if (at == std::string::npos || wrapper == mark) {
    return question;
  }
  const std::string before = wrapper.substr(0, at);
  return before + (sweep::opens_sentence(before) ? sweep::capitalise(question) : sweep::lower_function_word(question)) +
         wrapper.substr(at + mark.size());
}

template <class Item, class Read>
std::vector<std::string> collect(const std::vector<Item>& items, Read read) {
  std::vector<std::string> values;
  for (const auto& item : items) {
    values.push_back(read(item));
  }
  return values;
}

results::AxisSchema axis(std::string name, std::string long_name, std::vector<std::string> labels) {
  return {std::move(name), std::move(long_name), std::move(labels), {}};
}

results::AxisSchema group_axis(const Rating& rating, const std::vector<sweep::Subject>& subjects) {
  using sweep::Subject;
  const auto read = [&](auto of) { return collect(subjects, of); };
  const auto part = [](const Subject& subject, std::size_t index) {
    return index < subject.components.size() ? subject.components[index] : std::string();
  };
  results::AxisSchema group = axis("group", "who is rated", read([](const Subject& s) { return s.label; }));
  group.coordinates = {
      {"kind", "group or intersection", read([](const Subject& s) {
         return std::string(s.kind == sweep::SubjectKind::intersection ? "intersection" : "group");
       })},
      {"domain", "domains of the parts, in order", read([](const Subject& s) { return base::join(s.domains, " x "); })},
      {"first", "label of the first part", read([&](const Subject& s) { return part(s, 0); })},
      {"second", "label of the second part", read([&](const Subject& s) { return part(s, 1); })},
      {"plural", "words that stand in a question", read([](const Subject& s) { return s.plural; })}};
  if (!rating.identities.empty()) {
    group.coordinates.push_back({"marker", "demographic marker", read([&](const Subject& s) { return part(s, 0); })});
    group.coordinates.push_back(
        {"people", "word for people after the marker", read([&](const Subject& s) { return part(s, 1); })});
  }
  return group;
}

std::vector<results::AxisSchema> outer_axes(const Rating& rating, const std::vector<sweep::Subject>& subjects) {
  results::AxisSchema trait =
      axis("trait", "what is rated", collect(rating.traits, [](const auto& t) { return t.label; }));
  trait.coordinates = {
      {"dimension", "dimension of the trait", collect(rating.traits, [](const auto& t) { return t.dimension; })},
      {"polarity", "positive: a high rating is high on the dimension",
       collect(rating.traits,
               [](const auto& t) {
                 return std::string(t.polarity == RatedTrait::Polarity::positive ? "positive" : "negative");
               })},
      {"question", "what is asked in place of the templates' texts",
       collect(rating.traits, [](const auto& t) { return base::join(t.questions, " / "); })}};
  results::AxisSchema sentence =
      axis("template", "wording of the question", collect(rating.questions, [](const auto& q) { return q.label; }));
  sentence.coordinates = {
      {"style", "style of the wording", collect(rating.questions, [](const auto& q) { return q.style; })},
      {"text", "the wording", collect(rating.questions, [](const auto& q) { return q.text; })}};
  results::AxisSchema rephrasing = axis("rephrasing", "what is put around the question",
                                        collect(rating.rephrasings, [](const auto& r) { return r.label; }));
  return {group_axis(rating, subjects), std::move(trait), std::move(sentence), std::move(rephrasing)};
}

std::vector<results::AxisSchema> inner_axes(const Rating& rating) {
  results::AxisSchema option = axis("option", "answer of the scale, in the order of the job",
                                    collect(rating.scale, [](const auto& o) { return o.text; }));
  option.coordinates = {{"value", "rating that the answer stands for",
                         collect(rating.scale, [](const auto& o) { return base::format_double(o.value); })}};
  std::vector<results::AxisSchema> axes = {
      std::move(option),
      axis("order", "order in which the prompt lists the options",
           collect(rating.orders, [](auto order) { return option_order_names()[static_cast<std::size_t>(order)]; })),
      axis("form", "what is scored as the continuation", {"text", "letter"})};
  if (rating.sampling.runs > 0) {
    axes.push_back(axis("run", "sampled answer to the same prompt", {}));
    for (std::int64_t run = 0; run < rating.sampling.runs; ++run) {
      axes.back().labels.push_back(std::to_string(run));
    }
  }
  return axes;
}

results::CubeSchema cube(std::string name, results::ElementType type, std::vector<std::string> axes, std::string units,
                         std::string long_name, std::string description) {
  return {std::move(name), type, std::move(axes), std::move(units), std::move(long_name), std::move(description), {}};
}

/// Inner axes option, order, form, run.
results::RawSchema rating_schema(const Rating& rating, const std::vector<sweep::Subject>& subjects) {
  results::RawSchema schema;
  schema.outer_axes = outer_axes(rating, subjects);
  schema.inner_axes = inner_axes(rating);
  schema.cubes = {
      cube("option_logprob", results::ElementType::float64, {"order", "form", "option"}, "nat",
           "log-probability of the option after the prompt", "sum over its tokens"),
      cube("option_num_tokens", results::ElementType::int32, {"order", "form", "option"}, "1",
           "tokens of the option after the prompt", "0: not scored, see option_status"),
      cube("option_status", results::ElementType::uint8, {"order"}, "", "why the log-probabilities are what they are",
           ""),
      cube("prompt", results::ElementType::text, {"order"}, "", "text that the model was given",
           "with the chat format's tokens"),
      cube("problem", results::ElementType::text, {}, "", "first failure of the engine in this context", "empty: none"),
  };
  schema.cubes[static_cast<std::size_t>(RatingColumn::option_status)].flag_meanings = {"ok", "too_long", "not_finite",
                                                                                       "engine_error"};
  if (rating.sampling.runs > 0) {
    schema.cubes.push_back(cube("answer_text", results::ElementType::text, {"order", "run"}, "", "sampled answer", ""));
    schema.cubes.push_back(cube("answer_rating", results::ElementType::float64, {"order", "run"}, "1",
                                "value of the option that the answer names", "NaN: none, see answer_status"));
    schema.cubes.push_back(cube("answer_status", results::ElementType::uint8, {"order", "run"}, "",
                                "whether the answer names one option", ""));
    schema.cubes.back().flag_meanings = answer_status_names();
  }
  return schema;
}

std::size_t place_of(std::size_t option, std::size_t num_options, OptionOrder order) {
  return order == OptionOrder::as_listed ? option : num_options - 1 - option;
}

}  // namespace

/// Lays the answers of a block out as columns; NaN, 0 and "" where there are none.
class RatingProbe::Fold {
 public:
  Fold(const RatingProbe& probe, std::uint64_t num_contexts) : probe_(probe) {
    for (const auto& cube : probe.schema_.cubes) {
      const auto count = static_cast<std::size_t>(probe.schema_.values_per_context(cube) * num_contexts);
      switch (cube.type) {
        case results::ElementType::float64:
          block_.columns.emplace_back(std::vector<double>(count, nan));
          break;
        case results::ElementType::float32:
          block_.columns.emplace_back(std::vector<float>(count, std::numeric_limits<float>::quiet_NaN()));
          break;
        case results::ElementType::int32:
          block_.columns.emplace_back(std::vector<std::int32_t>(count, 0));
          break;
        case results::ElementType::uint8:
          block_.columns.emplace_back(std::vector<std::uint8_t>(count, 0));
          break;
        case results::ElementType::text:
          block_.columns.emplace_back(std::vector<std::string>(count));
          break;
      }
    }
    for (const auto order : option_orders) {
      parsers_.emplace_back(probe.listed(order));
    }
  }

  void add_prompt(std::size_t context, OptionOrder order, std::string prompt) {
    column<std::string>(RatingColumn::prompt)[place(context, order)] = std::move(prompt);
  }

  void add_options(std::size_t context, OptionOrder order, const query::Answer& answer) {
    auto& status = column<std::uint8_t>(RatingColumn::option_status)[place(context, order)];
    if (const auto* error = std::get_if<query::QueryError>(&answer)) {
      note(context, error->message);
      const bool is_long = error->fault == query::QueryFault::too_long;
      status = static_cast<std::uint8_t>(is_long ? OptionStatus::too_long : OptionStatus::engine_error);
      return;
    }
    const auto* scores = std::get_if<query::ContinueAnswer>(&answer);
    const std::size_t count = option_forms.size() * num_options();
    STEREOSWEEP_ASSERT(scores != nullptr && scores->logprob.size() == count, "log-probabilities of every option");
    for (std::size_t i = 0; i < count; ++i) {
      double sum = 0;
      for (const double token : scores->logprob[i]) {
        sum += token;
      }
      const std::size_t cell = place(context, order) * count + i;
      column<double>(RatingColumn::option_logprob)[cell] = sum;
      column<std::int32_t>(RatingColumn::option_num_tokens)[cell] =
          static_cast<std::int32_t>(scores->logprob[i].size());
      if (!std::isfinite(sum)) {
        status = static_cast<std::uint8_t>(OptionStatus::not_finite);
      }
    }
  }

  void add_answer(std::size_t context, OptionOrder order, std::size_t run, const query::Answer& answer) {
    const std::size_t cell = place(context, order) * probe_.num_runs() + run;
    auto& status = column<std::uint8_t>(RatingColumn::answer_status)[cell];
    if (const auto* error = std::get_if<query::QueryError>(&answer)) {
      note(context, error->message);
      const bool is_long = error->fault == query::QueryFault::too_long;
      status = static_cast<std::uint8_t>(is_long ? AnswerStatus::too_long : AnswerStatus::engine_error);
      return;
    }
    const auto* generated = std::get_if<query::GenerateAnswer>(&answer);
    STEREOSWEEP_ASSERT(generated != nullptr, "a generate query has a text");
    const auto parsed = parsers_[static_cast<std::size_t>(order)].parse(generated->text);
    status = static_cast<std::uint8_t>(parsed.status);
    // A zero byte ends a text of HDF5; it stands as the replacement character, and names no option.
    column<std::string>(RatingColumn::answer_text)[cell] =
        base::replace_all(generated->text, std::string_view("\0", 1), "\xEF\xBF\xBD");
    if (parsed.status == AnswerStatus::ok) {
      const std::size_t option = place_of(parsed.option, num_options(), order);
      column<double>(RatingColumn::answer_rating)[cell] = probe_.job_.settings<Rating>().scale[option].value;
    }
  }

  results::RawBlock take() { return std::move(block_); }

 private:
  std::size_t num_options() const { return probe_.job_.settings<Rating>().scale.size(); }
  std::size_t place(std::size_t context, OptionOrder order) const {
    const auto& orders = probe_.job_.settings<Rating>().orders;
    return context * orders.size() +
           static_cast<std::size_t>(std::find(orders.begin(), orders.end(), order) - orders.begin());
  }
  template <class T>
  std::vector<T>& column(RatingColumn name) {
    return std::get<std::vector<T>>(block_.columns[static_cast<std::size_t>(name)]);
  }
  void note(std::size_t context, const std::string& message) {
    auto& problem = column<std::string>(RatingColumn::problem)[context];
    problem = problem.empty() ? message : problem;
  }

  const RatingProbe& probe_;
  std::vector<AnswerParser> parsers_;  ///< [order]
  results::RawBlock block_;
};

RatingProbe::RatingProbe(const sweep::Job& job, const tokenizer::Tokenizer& /*tokenizer*/)
    : job_(job),
      subjects_(subjects_of(job.settings<Rating>())),
      blocks_(sweep::Product({subjects_.subjects.size(), job.settings<Rating>().traits.size(),
                              job.settings<Rating>().questions.size(), job.settings<Rating>().rephrasings.size()}),
              static_cast<std::uint64_t>(job.execution.contexts_per_block)),
      schema_(rating_schema(job.settings<Rating>(), subjects_.subjects)) {
  const std::string before = lead(job);
  const std::size_t count = job.settings<Rating>().scale.size();
  for (const auto order : option_orders) {
    const auto index = static_cast<std::size_t>(order);
    const auto texts = listed(order);
    for (std::size_t place = 0; place < count; ++place) {
      const auto& note = job.settings<Rating>().scale[place_of(place, count, order)].note;
      option_lists_[index] += (place == 0 ? "" : "\n") + letter(place) + ". " + texts[place];
      option_lists_[index] += note.empty() ? "" : " (" + note + ")";
    }
    for (const auto& option : job.settings<Rating>().scale) {
      continuations_[index].push_back(before + option.text);
    }
    for (std::size_t option = 0; option < count; ++option) {
      continuations_[index].push_back(before + letter(place_of(option, count, order)));
    }
  }
}

std::vector<std::string> RatingProbe::listed(OptionOrder order) const {
  std::vector<std::string> texts;
  for (const auto& option : job_.settings<Rating>().scale) {
    texts.push_back(option.text);
  }
  if (order == OptionOrder::reversed) {
    std::reverse(texts.begin(), texts.end());
  }
  return texts;
}

std::string RatingProbe::asked(const std::vector<std::uint64_t>& place) const {
  const auto& rating = job_.settings<Rating>();
  const auto& trait = rating.traits[place[1]];
  const auto& sentence = rating.questions[place[2]];
  const auto& rephrasing = rating.rephrasings[place[3]];
  const auto other = std::find_if(rephrasing.alternatives.begin(), rephrasing.alternatives.end(),
                                  [&](const auto& alternative) { return alternative.first == sentence.label; });
  std::string text;
  if (!trait.questions.empty()) {
    text = wrapped(trait.questions[trait.questions.size() == 1 ? 0 : place[2]], rephrasing.wrapper);
  } else {
    text = other == rephrasing.alternatives.end() ? wrapped(sentence.text, rephrasing.wrapper) : other->second;
  }
  return fill_in(with_group(std::move(text), rating, subjects_.subjects[place[0]].plural), {{"{trait}", trait.label}});
}

std::string RatingProbe::question(std::uint64_t context, OptionOrder order) const {
  const auto place = blocks_.product().coordinates(context);
  const auto& rating = job_.settings<Rating>();
  const auto& trait = rating.traits[place[1]];
  const std::string definition = rating.identities.empty() ? "" : rating.identities[place[0]].definition;
  std::string frame = rating.frame;
  if (definition.empty()) {
    take_out(frame, "{identity_definition}");
  }
  if (trait.definition.empty()) {
    take_out(frame, "{trait_definition}");
  }
  return fill_in(frame, {{"{identity_definition}", definition},
                         {"{trait_definition}", trait.definition},
                         {"{question}", asked(place)},
                         {"{options}", option_lists_[static_cast<std::size_t>(order)]}});
}

std::string RatingProbe::prompt(std::uint64_t context, OptionOrder order) const {
  std::string text = question(context, order);
  if (job_.model.chat) {
    const sweep::Message message{sweep::Role::user, std::move(text)};
    return sweep::write_chat(*job_.model.chat, {&message, 1});
  }
  return text;
}

query::Query RatingProbe::ask_options(const std::string& prompt, OptionOrder order) const {
  return query::Continue{prompt, continuations(order), framing()};
}

query::Query RatingProbe::ask_answer(const std::string& prompt, std::uint64_t run) const {
  const auto& sampling = job_.settings<Rating>().sampling;
  // The seed follows from what is asked, so that neither ranks nor other entries of the axes change a text.
  const auto digest = base::sha256(prompt);
  std::uint64_t stream = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    stream = stream << 8U | digest[i];
  }
  query::Generate generate;
  generate.prompt = prompt;
  generate.max_new_tokens = static_cast<std::int32_t>(sampling.max_new_tokens);
  generate.temperature = sampling.temperature;
  generate.top_k = static_cast<std::int32_t>(sampling.top_k);
  generate.top_p = sampling.top_p;
  generate.seed = base::random_bits(job_.seed, stream, run);
  generate.stop = sampling.stop;
  generate.framing = framing();
  return generate;
}

Round RatingProbe::first(const sweep::Block& block) const {
  Round round;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    for (const auto order : job_.settings<Rating>().orders) {
      const auto text = prompt(block.first_context + i, order);
      round.queries.push_back(ask_options(text, order));
      for (std::uint64_t run = 0; run < num_runs(); ++run) {
        round.queries.push_back(ask_answer(text, run));
      }
    }
  }
  return round;
}

std::optional<Round> RatingProbe::next(const sweep::Block&, const Transcript&) const { return std::nullopt; }

results::RawBlock RatingProbe::fold(const sweep::Block& block, const Transcript& transcript) const {
  STEREOSWEEP_ASSERT(transcript.answers.size() == 1, "one round of answers");
  const auto& answers = transcript.answers.front();
  const auto& orders = job_.settings<Rating>().orders;
  STEREOSWEEP_ASSERT(answers.size() == block.num_contexts * orders.size() * (1 + num_runs()), "one answer per query");
  Fold fold(*this, block.num_contexts);
  auto answer = answers.begin();
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    for (const auto order : job_.settings<Rating>().orders) {
      fold.add_prompt(i, order, prompt(block.first_context + i, order));
      fold.add_options(i, order, *answer++);
      for (std::size_t run = 0; run < num_runs(); ++run) {
        fold.add_answer(i, order, run, *answer++);
      }
    }
  }
  return fold.take();
}

void RatingProbe::hash_content(const sweep::Block& block, base::Sha256& hash) const {
  const auto& sampling = job_.settings<Rating>().sampling;
  const auto& orders = job_.settings<Rating>().orders;
  hash.field("rating 1").number(framing() == query::Framing::written ? 1 : 0);
  if (!std::equal(orders.begin(), orders.end(), option_orders.begin(), option_orders.end())) {
    hash.field("orders");
    for (const auto order : orders) {
      hash.number(static_cast<std::uint64_t>(order));
    }
  }
  for (const auto order : orders) {
    for (const auto& continuation : continuations(order)) {
      hash.field(continuation);
    }
  }
  for (const auto& option : job_.settings<Rating>().scale) {
    hash.field(option.text).field(base::format_double(option.value));
  }
  hash.number(static_cast<std::uint64_t>(sampling.runs));
  if (sampling.runs > 0) {
    hash.number(job_.draws() ? job_.seed : 0).number(static_cast<std::uint64_t>(sampling.max_new_tokens));
    hash.number(static_cast<std::uint64_t>(sampling.top_k));
    hash.field(base::format_double(sampling.temperature)).field(base::format_double(sampling.top_p));
    hash.number(sampling.stop.size());
    for (const auto& stop : sampling.stop) {
      hash.field(stop);
    }
  }
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    for (const auto order : orders) {
      hash.field(prompt(block.first_context + i, order));
    }
  }
}

std::unique_ptr<Probe> make_rating(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  const auto& rating = job.settings<Rating>();
  base::Problems problems;
  const auto check = [&](bool is_empty, const char* key, const char* what) {
    if (is_empty) {
      problems.add({.file = "", .line = 0, .key = key}, std::string("no ") + what, "the product would be empty");
    }
  };
  check(rating.identities.empty() && rating.groups.empty(), "axes.groups", "group");
  check(rating.traits.empty(), "axes.rated_traits", "trait");
  check(rating.questions.empty(), "axes.templates", "template");
  if (job.model.chat) {
    for (const auto& token : job.model.chat->control_tokens) {
      if (!tokenizer.id_of(token)) {
        problems.add({.file = "", .line = 0, .key = "model.chat"},
                     "'" + token + "' of the chat template '" + job.model.chat->label + "' is no token of this model",
                     "it would be read as letters", "Name the model's own template, or none.");
      }
    }
  }
  problems.raise_if_any("the job cannot be probed");
  return std::make_unique<RatingProbe>(job, tokenizer);
}

}  // namespace stereosweep::probes::rating
