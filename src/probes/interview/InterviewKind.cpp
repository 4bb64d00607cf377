#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>

#include "answers/Rating.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/language/LanguageTable.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/interview/Interview.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::probes::interview {
namespace {

std::string indented(const std::string& text) {
  std::string out;
  for (const auto& line : base::split(base::printable(text), '\n')) {
    out += results::wrapped("    " + line, 4) + "\n";
  }
  return out;
}

/// One round of one context.
std::string conversation_text(const results::RawSchema& schema, const results::RawBlock& block, std::size_t round) {
  const auto num_turns = schema.inner_axis("turn").labels.size();
  const auto text = [&](const char* name) -> const std::vector<std::string>& {
    return column_named<std::string>(block, schema, name);
  };
  const auto flag = [&](const char* name, std::size_t cell) {
    return meanings_of(schema, name).at(column_named<std::uint8_t>(block, schema, name)[cell]);
  };
  std::string out;
  for (std::size_t turn = 0; turn < num_turns; ++turn) {
    const auto cell = round * num_turns + turn;
    const auto status = flag("answer_status", cell);
    if (status == "not_asked") {
      continue;
    }
    out += "  asked:\n" + indented(text("question")[turn]);
    out += status == "ok" ? "  answered (" + flag("answer_ending", cell) + "):\n" + indented(text("answer_text")[cell])
                          : "  no answer: " + status + "\n";
  }
  if (schema.find_cube("rating")) {
    const auto& items = schema.inner_axis("item").labels;
    std::string line;
    for (std::size_t item = 0; item < items.size(); ++item) {
      const auto cell = round * items.size() + item;
      const auto status = flag("rating_status", cell);
      const double value = column_named<double>(block, schema, "rating")[cell];
      if (status != "not_asked") {
        line += (line.empty() ? "" : ", ") + items[item] + " " +
                (std::isfinite(value) ? base::format_double(value) : status);
      }
    }
    out += line.empty() ? "" : results::wrapped("  read as: " + line, 4) + "\n";
  }
  return out;
}

/// Indices of the groups on the first axis; all where none is named.
std::vector<std::size_t> groups_of(const results::AxisSchema& axis, const std::vector<std::string>& names) {
  std::vector<std::size_t> groups;
  for (const auto& name : names.empty() ? axis.labels : names) {
    const auto place = results::place_of(axis.labels, name);
    base::refuse_if(!place, "no group '" + name + "' in this result", "", base::did_you_mean(name, axis.labels));
    groups.push_back(*place);
  }
  return groups;
}

/// Versions of the rules by which the answers were read: "4, 5"; "" where none was.
std::string rules_text(const InterviewResult& result) {
  return base::join(base::mapped(result.rules, [](auto version) { return std::to_string(version); }), ", ");
}

/// Whether some were read by other rules than this program's, and what is said of that.
bool has_other_rules(const InterviewResult& result) {
  return std::ranges::any_of(result.rules, [](auto version) { return version != answers::rules_version; });
}

std::string rules_warning() {
  return "this program has rules " + std::to_string(answers::rules_version) +
         ": stereosweep stats DIR --reparse reads the texts again";
}

/// Answers, ratings and keywords by status, and the rules by which they were read.
std::string statuses_text(const InterviewResult& result) {
  auto text = answers_line("turns", result.answer_statuses, result.answer_counts);
  if (std::ranges::any_of(result.rating_counts, [](auto count) { return count > 0; })) {
    text += answers_line("ratings", answers::status_names, result.rating_counts);
  }
  if (!result.keyword_counts.empty()) {
    text += answers_line("keyword lists", answers::status_names, result.keyword_counts);
  }
  const auto versions = rules_text(result);
  text += "answers were read by rules " + (versions.empty() ? "of no version" : versions) + "\n";
  if (has_other_rules(result)) {
    text += results::wrapped("WARNING: " + rules_warning(), 2) + "\n";
  }
  return text;
}

/// The conversations of the groups that the request names, at most `request.top`.
std::string answers_text(const AnswersRequest& request) {
  const auto& schema = request.file.schema();
  const auto per_group = request.file.contexts_per_subject();
  const auto num_rounds = schema.inner_axis("round").labels.size();
  const auto groups = groups_of(schema.outer_axes.at(0), request.groups);
  const auto product = product_of(schema);
  std::string text;
  std::uint64_t shown = 0;
  for (const auto group : groups) {
    for (std::uint64_t i = 0; i < per_group && shown < request.top; ++i) {
      const auto context = group * per_group + i;
      const auto at = product.coordinates(context);
      const auto block = request.file.read(context, 1);
      for (std::size_t round = 0; round < num_rounds && shown < request.top; ++round, ++shown) {
        std::vector<std::string> names;
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
          names.push_back(schema.outer_axes[axis].labels[at[axis]]);
        }
        text += results::wrapped(base::join(names, " | ") + " | round " + std::to_string(round), 2) + "\n" +
                conversation_text(schema, block, round) + "\n";
      }
    }
  }
  return text + results::rest_text(shown, groups.size() * per_group * num_rounds, "conversations");
}

using base::with_thousands;

void print_format(const PlanRequest& request) {
  const auto& job = request.job;
  print_chat(std::cout, request, "conversations are plain text, 'Question: ...', 'Answer: ...'");
  if (!job.model.chat && job.settings<Interview>().sampling.stop.empty()) {
    plan_line(std::cout, "note") << "no stop text: a model that goes on asks itself the next question\n"
                                 << "           (sampling.stop: [\"\\nQuestion:\"])\n";
  }
}

/// What turns after the first can cost: their prompts hold answers that are not there yet.
struct LaterTurns : PlanSample {
  std::uint64_t answers = 0;
  std::uint64_t prompt_tokens = 0;  ///< at most
  std::uint64_t new_tokens = 0;     ///< at most
  std::uint64_t longest = 0;        ///< tokens of a prompt and its answer, at most
};

LaterTurns later_turns(const InterviewProbe& probe, const PlanRequest& request) {
  LaterTurns later;
  const auto& job = request.job;
  const auto most =
      static_cast<std::uint64_t>(sampled_text(job, job.settings<Interview>().sampling, "", 0).max_new_tokens);
  const auto special = job.model.chat ? tokenizer::SpecialTokens::leave_out : tokenizer::SpecialTokens::add;
  later.num_contexts = probe.blocks().num_contexts();
  for (const auto& block : sweep::sample_blocks(probe.blocks(), max_contexts_planned)) {
    later.contexts_read += block.num_contexts;
    for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
      const auto asked = probe.messages(probe.blocks().context(block, i));
      for (std::size_t turn = 0; turn < asked.size(); ++turn) {
        const std::vector<std::string> none(turn, job.model.chat && job.model.chat->origin ? "-" : "");
        const auto prompt = prompt_of(job, std::span(asked).first(turn + 1), none);
        const auto tokens = request.tokenizer->encode(prompt, special).ids.size() + turn * most;
        later.longest = std::max(later.longest, tokens + most);
        if (turn > 0) {
          later.answers += probe.num_rounds();
          later.prompt_tokens += probe.num_rounds() * tokens;
          later.new_tokens += probe.num_rounds() * most;
        }
      }
    }
  }
  return later;
}

void print_later_turns(const LaterTurns& later, const std::optional<model::CausalSpecification>& specification) {
  plan_line(std::cout, "later") << later.sum(later.answers, "answer") << " to turns after the first, of at most "
                                << later.sum(later.new_tokens, "token") << ", after\n           prompts of at most "
                                << later.sum(later.prompt_tokens, "token")
                                << " (they hold the answers before; lines around count first turns)\n";
  if (specification && later.longest > static_cast<std::uint64_t>(specification->max_tokens)) {
    plan_line(std::cout, "WARNING") << "a conversation may have " << with_thousands(later.longest)
                                    << " tokens, the model "
                                    << with_thousands(static_cast<std::uint64_t>(specification->max_tokens))
                                    << " positions: what is too long gets a status, no answer\n";
  }
}

/// What the model reads at each turn; "{answer 1}" stands where its first answer will.
void print_prompts(const sweep::Job& job, const InterviewProbe& probe, std::uint64_t limit) {
  const std::uint64_t contexts = std::min(limit, probe.blocks().num_contexts());
  for (std::uint64_t visit = 0; visit < contexts; ++visit) {
    const auto context = probe.blocks().context({}, visit);
    const auto asked = probe.messages(context);
    for (std::size_t turn = 0; turn < asked.size(); ++turn) {
      std::vector<std::string> answers;
      for (std::size_t i = 0; i < turn; ++i) {
        answers.push_back("{answer " + std::to_string(i + 1) + "}");
      }
      const auto prompt = prompt_of(job, std::span(asked).first(turn + 1), answers);
      std::cout << context << '\t' << turn << '\t' << base::json_quote(prompt) << '\n';
    }
  }
}

class InterviewKind final : public KindOf<Interview> {
 public:
  Defaults defaults() const override {
    return {.sizes = {.contexts_per_block = 8, .batch_tokens = causal_batch_tokens},
            .on_gpu = {.contexts_per_block = 64, .batch_tokens = sampling_gpu_tokens},
            .chat = config::ChatUse::from_checkpoint};
  }
  bool parses_texts() const override { return true; }
  bool samples_text(const sweep::Job& /*job*/) const override { return true; }
  std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer) const override {
    return make_interview(job, tokenizer);
  }

  /// Also of what is English in a job that is not.
  std::vector<std::string> own_warnings(const sweep::Job& job) const override {
    auto warnings = ProbeKind::own_warnings(job);
    std::vector<std::string> english;
    for (const auto& conversation : job.settings<Interview>().conversations) {
      if (conversation.needs_between() && (job.language != "en" || !config::seems_english(conversation.questions()))) {
        english.push_back(conversation.label);
      }
    }
    if (!english.empty()) {
      warnings.push_back(base::describe("a scale is written with the English 'to' in conversations of another language",
                                        base::excerpt(base::join(english, ", "), 200),
                                        "Set scale.between, or the key 'language'."));
    }
    return warnings;
  }
  std::string summary(const sweep::Job& job) const override {
    const auto& settings = job.settings<Interview>();
    const auto list = subjects_of(settings);
    const std::uint64_t contexts =
        list.subjects.size() * settings.conversations.size() * settings.forms.size() * settings.rephrasings.size();
    std::uint64_t turns = 0;
    for (const auto& conversation : settings.conversations) {
      for (const auto& form : settings.forms) {
        turns += asked_turns(conversation, form).size();
      }
    }
    const auto rounds = static_cast<std::uint64_t>(settings.sampling.rounds);
    return base::counted(settings.groups.size(), "group") + " + " +
           base::counted(list.subjects.size() - settings.groups.size(), "intersection") + " x " +
           base::counted(settings.conversations.size(), "conversation") + " x " +
           base::counted(settings.forms.size(), "template") + " x " +
           base::counted(settings.rephrasings.size(), "rephrasing") + ": " + base::counted(contexts, "context") +
           ", each in " + base::counted(rounds, "round") + ": " +
           base::counted(turns * list.subjects.size() * settings.rephrasings.size() * rounds, "sampled answer") +
           "; chat: " + (job.model.chat ? job.model.chat->label : std::string("none")) +
           summary_end(list.omissions, settings.groups);
  }

  std::vector<sweep::Omission> omissions(const sweep::Job& job) const override {
    return subjects_of(job.settings<Interview>()).omissions;
  }
  void plan(const PlanRequest& request) const override {
    const auto made = make_interview(request.job, request.tokenizer);
    const auto& probe = *made;
    const auto later = later_turns(probe, request);
    const auto print_own_lines = [&](const auto& specification) {
      print_format(request);
      print_later_turns(later, specification);
    };
    print_causal_plan(std::cout,
                      {"interview of", summary(request.job), print_own_lines,
                       [&](std::uint64_t limit) { print_prompts(request.job, probe, limit); }, nullptr,
                       later.whole(later.new_tokens)},
                      probe, request);
  }

  void show(const results::ResultFile& file, Detail /*detail*/, std::size_t /*top*/) const override {
    std::cout << statuses_text(compute_scores(file, {}, StatsRequest::Parsing::as_stored));
  }
  void show_answers(const AnswersRequest& request) const override { std::cout << answers_text(request); }

  std::vector<std::string> recommended_measures(const sweep::Job& /*job*/) const override { return {"rating"}; }
  std::vector<sweep::KeyFault> server_faults(const sweep::Job& job) const override {
    std::vector<sweep::KeyFault> faults;
    for (const auto& conversation : job.settings<Interview>().conversations) {
      for (const auto& turn : conversation.turns) {
        if (asks_by_messages(job) && turn.asks_options) {
          faults.push_back({"axes", "turn '" + turn.label + "' asks the probabilities of the scale's answers",
                            "conversations with a server give none",
                            "Leave 'options' out, or set model.interface: completions."});
        }
      }
    }
    return faults;
  }
  /// Means of all measures, where something is rated.
  sweep::Comparison comparison(const sweep::Job& job) const override {
    auto comparison = job.comparison;
    if (std::ranges::any_of(job.settings<Interview>().conversations, &Conversation::rates)) {
      comparison.means = comparison.means.value_or(sweep::MeansRequest());
    }
    return comparison;
  }
  results::ScoreTableAxes score_axes(const sweep::Job& job) const override {
    return interview::score_axes(interview_schema(job), job);
  }
  findings::LeftOut left_out(const sweep::Job& job) const override {
    return interview::left_out(interview_schema(job), job);
  }
  StatsText stats(const StatsRequest& request) const override {
    InterviewTexts texts(request.file.schema());
    const auto result = compute_scores(request.file, request.job, request.parsing,
                                       [&](const auto& block, auto place) { texts.add(block, place); });
    results::StatisticsFile written(request.file, Interview::probe_name, request.target);
    written.root().write_attribute("rules_versions", rules_text(result));
    if (has_other_rules(result)) {
      written.root().write_attribute("rules_warnings", rules_warning());
    }
    results::write_score_table(written.layout(), result.table, written.left_out());
    const auto read = write_read_line(written, request.file, answers::status_names, result.rating_counts);
    const auto scores = findings::scores_of(written);
    const bool draws = request.job.settings<Interview>().draws();
    auto told = write_findings(
        written, findings_of(texts, scores, draws ? std::optional(request.job.comparison.confidence) : std::nullopt),
        request);
    written.commit();
    return {.details = std::move(told), .status = statuses_text(result), .read = read};
  }
};

}  // namespace

const config::ProbeFormat& interview_kind() {
  static const InterviewKind kind;
  return kind;
}

}  // namespace stereosweep::probes::interview
