#include "probes/ProbeKind.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"
#include "findings/Conclusions.hpp"
#include "findings/decisions/Decisions.hpp"
#include "findings/decisions/SparseDesign.hpp"
#include "probes/PlanText.hpp"
#include "probes/SampledText.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::probes {
namespace {

/// Adds the job's texts in which "a" or "an" stands before the plural of a group; `singular`: labels of the templates
/// that ask for a singular, whose rephrasings do so as well.
void add_articles(const config::Node& node, std::vector<std::string>& singular, std::vector<std::string>& found) {
  if (const auto* form = node.find("form"); form != nullptr && form->value == "singular") {
    singular.push_back(node.find("label")->value);
    return;
  }
  auto text = " " + base::lower_ascii(node.value);
  std::ranges::replace_if(
      text, [](char c) { return std::string_view("\"'([\n").find(c) != std::string_view::npos; }, ' ');
  for (const auto* words : {" a {group}", " an {group}", " a {identity}", " an {identity}"}) {
    if (text.find(words) != std::string::npos) {
      base::add_once(found, node.value);
    }
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    if (node.keys.empty() || (node.keys[i] != "inside" && !base::contains(singular, node.keys[i]))) {
      add_articles(node.children[i], singular, found);
    }
  }
}

/// The result of a finished run of the probe. `name`: of the run, for messages.
std::unique_ptr<results::ResultFile> open_finished(std::string_view probe, const std::filesystem::path& place,
                                                   const std::string& name) {
  std::error_code ignored;
  const auto path = std::filesystem::is_directory(place, ignored) ? place / (std::string(probe) + ".h5") : place;
  base::refuse_if(!std::filesystem::exists(path, ignored),
                  name + " holds no result of the probe '" + std::string(probe) + "'", "there is no " + path.string(),
                  "Give the folder that 'stereosweep run' wrote for such a job.");
  auto result = std::make_unique<results::ResultFile>(path);
  require_result_of(*result, probe);
  base::refuse_if(!result->complete(), name + " is not finished", "it has unscored blocks",
                  "Continue it with 'stereosweep run'.");
  return result;
}

/// As `stats` has left it there.
results::ScoreFile scores_beside(const results::ResultFile& result, const std::string& name) {
  std::error_code ignored;
  const auto table = results::statistics_beside(result.path());
  const auto suggestion = "run 'stereosweep stats " + result.path().string() + "' first";
  base::refuse_if(!std::filesystem::exists(table, ignored), name + " has no score table yet",
                  "there is no " + table.string(), suggestion);
  results::ScoreFile scores(table);
  base::refuse_if(scores.text("source_digest") != results::stated_digest(result),
                  "the score table of " + name + " is of another result", table.string() + " is older than the run",
                  suggestion);
  return scores;
}

/// In what else than its templates a second job asks something else than the first; "": in nothing.
std::string difference_but_templates(const sweep::Job& first, sweep::Job second) {
  std::error_code ignored;
  if (std::filesystem::equivalent(first.model.path, second.model.path, ignored)) {
    second.model.path = first.model.path;
  }
  constexpr std::array free = {"name:",          "seed:",          "execution.",      "statistics",
                               "axes.templates", "axes.sentences", "axes.rephrasings"};
  for (auto& found : config::differences(config::canonical_dump(first), config::canonical_dump(second))) {
    if (std::ranges::none_of(free, [&](const char* key) { return found.starts_with(key); })) {
      return std::move(found);
    }
  }
  return "";
}

/// What each template asks: its text, or all that it is but for its label.
std::set<std::string> texts_of_templates(const sweep::Job& job) {
  auto dump = config::dump_job(job, config::Extent::everything);
  const auto* axes = dump.find("axes");
  const auto* templates = axes == nullptr ? nullptr : axes->find("templates");
  templates = axes == nullptr || templates != nullptr ? templates : axes->find("sentences");
  std::set<std::string> texts;
  for (auto one : templates == nullptr ? std::vector<config::Node>() : templates->children) {
    one.take("label");
    const auto* text = one.find("text");
    texts.insert(text == nullptr ? config::emit_yaml(one) : text->value);
  }
  return texts;
}

/// The file's "not_scored" stands behind all names that are given.
std::string name_of(const std::vector<std::string>& names, std::size_t status) {
  return status < names.size() ? names[status] : std::string(results::not_scored);
}

/// All but those that the job does not ask, and those that the run did not come to.
std::uint64_t num_asked(const std::vector<std::string>& names, const std::vector<std::uint64_t>& counts) {
  std::uint64_t sum = 0;
  for (std::size_t status = 0; status < counts.size(); ++status) {
    const auto name = name_of(names, status);
    sum += name == "not_asked" || name == results::not_scored ? 0 : counts[status];
  }
  return sum;
}

std::string share_of(std::uint64_t count, std::uint64_t asked) {
  return " (" + results::percent(static_cast<double>(count) / static_cast<double>(asked)) + ")";
}

/// How the thoughts before sampled answers ended, where the job closes those that are too long; else "".
std::string thoughts_text(const results::ResultFile& result) {
  const auto& schema = result.schema();
  const auto end = schema.find_cube("answer_thought_end");
  if (!end) {
    return "";
  }
  const auto& meanings = meanings_of(schema, "answer_status");
  const auto count = schema.values_per_context(schema.cubes[*end]);
  std::uint64_t cut = 0;
  std::array<std::uint64_t, 2> ended{};  // as answer_thought_end has it
  result.for_each_context([&](std::uint64_t, const results::RawBlock& block, std::uint64_t place) {
    const auto& statuses = column_named<std::uint8_t>(block, schema, "answer_status");
    const auto& tokens = column_named<std::int32_t>(block, schema, "answer_num_thought_tokens");
    const auto& ends = column_named<std::uint8_t>(block, schema, "answer_thought_end");
    for (auto cell = place * count; cell < (place + 1) * count; ++cell) {
      if (meanings.at(statuses[cell]) == truncated_thought_name) {
        ++cut;
      } else if (tokens[cell] > 0) {
        ++ended.at(ends[cell]);
      }
    }
  });
  const auto all = cut + ended[0] + ended[1];
  const auto text = [&](std::uint64_t number) { return base::with_thousands(number) + share_of(number, all); };
  return all == 0
             ? ""
             : " Of " + base::counted(all, "thought") + " before answers " + text(ended[0]) + " ended by themselves, " +
                   text(ended[1]) + " were closed at their limit, and " + text(cut) + " were cut off.";
}

class OnlyStage final : public Stage {
 public:
  explicit OnlyStage(const ProbeKind& kind) : kind_(kind) {}
  std::shared_ptr<const Probe> open(const StageRequest& request, std::span<const std::byte> /*input*/) override {
    return parallel::coordinated(request.world, [&] { return reopen(request); });
  }
  std::shared_ptr<const Probe> reopen(const StageRequest& request) override {
    return kind_.make_probe(request.job, request.tokenizer);
  }

 private:
  const ProbeKind& kind_;
};

}  // namespace

std::vector<std::unique_ptr<Stage>> ProbeKind::stages(const sweep::Job& /*job*/) const {
  std::vector<std::unique_ptr<Stage>> one;
  one.push_back(std::make_unique<OnlyStage>(*this));
  return one;
}

void ProbeKind::plan(const PlanRequest& request) const {
  const auto probe = make_probe(request.job, request.tokenizer);
  auto& out = std::cout;
  out << request.job.name << ": " << name() << " on " << request.job.model.shown() << '\n';
  plan_line(out, "product") << summary(request.job) << '\n';
  print_blocks(out, request.job, probe->blocks(), request.ranks);
  print_output(out, output_bytes(probe->schema(), probe->blocks().num_contexts(), 0));
  request.print_time(out, *probe);
}

void ProbeKind::show_answers(const AnswersRequest& /*request*/) const {
  base::refuse("there are no conversations to show", "the probe '" + std::string(name()) + "' keeps none");
}

std::vector<std::string> ProbeKind::warnings(const sweep::Job& job) const {
  auto all = own_warnings(job);
  if (job.execution.engine == query::EngineKind::fake) {
    all.insert(all.begin(),
               "execution.engine is 'fake': these numbers are made of a hash and say nothing of the model. Leave "
               "'execution.engine' out to ask it.");
  }
  return all;
}

std::vector<std::string> ProbeKind::own_warnings(const sweep::Job& job) const {
  std::vector<std::string> singular;
  std::vector<std::string> found;
  if (job.language == "en") {
    add_articles(config::dump_job(job, config::Extent::everything), singular, found);
  }
  const auto all = "'" + base::join(found, "', '") + "'";
  return found.empty() ? found
                       : std::vector{base::describe(
                             "an article stands before the plural of a group: " + all, "groups are in the plural there",
                             "Leave it out; a template with a form can say {a group}, which takes the singular.")};
}

sweep::Comparison ProbeKind::asked(const sweep::Job& job) const {
  auto asked = comparison(job);
  if (!asked.decide || !asked.decide->measures.empty()) {
    return asked;
  }
  auto recommended = recommended_measures(job);
  const auto known = score_axes(job).front().labels;
  std::erase_if(recommended, [&](const auto& measure) { return !base::contains(known, measure); });
  const auto names_none = [](const sweep::Contrast& contrast) { return contrast.measures.empty(); };
  if (std::ranges::all_of(asked.contrasts, names_none)) {
    asked.decide->measures = recommended;
    return asked;
  }
  for (auto& contrast : asked.contrasts) {
    contrast.measures = names_none(contrast) ? recommended : contrast.measures;
  }
  return asked;
}

std::vector<sweep::KeyFault> ProbeKind::statistics_faults(const sweep::Job& job) const {
  auto names = asked(job);
  if (names.intersections) {
    names.intersections->known.clear();  // names poles as well
  }
  const auto axes = score_axes(job);
  auto faults = findings::faults_of_names(axes, names);
  std::ranges::move(faults_of_rounds(job), std::back_inserter(faults));
  if (faults.empty() && names.decide) {
    try {
      findings::visiting_rounds(axes, names, job.seed, left_out(job));
    } catch (const base::InputError& error) {
      faults.push_back({.key = "decide", .problem = error.what()});
    }
  }
  return faults;
}

std::vector<std::string> ProbeKind::design_faults(const sweep::Job& job) const {
  const auto design = job.design();
  return design ? findings::faults_of_design(score_axes(job), *design) : std::vector<std::string>();
}

sweep::DecideRequest::Plan ProbeKind::plan_of_pilot(const sweep::Job& job) const {
  const auto& pilot = job.comparison.decide->plan.pilot;
  const auto table = open_pilot(pilot);
  try {
    auto plan = findings::plan_of(findings::scores_of(table), asked(job));
    plan.pilot = pilot;
    return plan;
  } catch (const base::InputError& error) {
    throw base::InputError("the score table of the pilot '" + pilot + "': " + error.what());
  }
}

results::ScoreFile ProbeKind::open_pilot(const std::filesystem::path& place) const {
  const auto pilot = "the pilot '" + place.string() + "'";
  const auto result = open_finished(name(), place, pilot);
  base::refuse_if(result->number("num_rounds").has_value(), pilot + " stopped asking",
                  "the variances of a contrast are estimated from a whole table");
  return scores_beside(*result, pilot);
}

sweep::DecideRequest ProbeKind::decide_after(const sweep::Job& job) const {
  const auto& own = *job.comparison.decide;
  const auto& run = own.after->run;
  const auto name = "the earlier run '" + run + "'";
  const auto result = open_finished(this->name(), run, name);
  const auto document = result->document("job_resolved");
  const auto num_rounds = result->number("num_rounds");
  base::refuse_if(!document || !num_rounds, name + " decided nothing", "its job has no statistics.decide");
  const auto earlier = config::load_resolved(*document, result->path().string() + ":/provenance/job_resolved");
  auto next = asked(earlier);
  base::refuse_if(next.decide->reserve == 0, name + " keeps no level for another job",
                  "its statistics.decide has no 'reserve'",
                  "The share must be declared before the first score: ask all of it again in a job of its own.");
  base::refuse_if(next.decide->after.has_value(), name + " is a second job itself",
                  "what the first one kept of its level is spent");
  const auto difference = difference_but_templates(earlier, job);
  base::refuse_if(!difference.empty(), name + " asked of something else", difference,
                  "Change templates, sentences and rephrasings alone.");
  base::refuse_if(next.contrasts != asked(job).contrasts, name + " decides other contrasts",
                  "its undecided rows are asked again, and no others", "Give statistics.contrasts as there.");
  const auto before = texts_of_templates(earlier);
  for (const auto& text : texts_of_templates(job)) {
    base::refuse_if(before.contains(text), name + " has asked a template of this job",
                    "'" + base::excerpt(text, 80) + "': undecided rows are asked in new templates alone",
                    "Leave out those that it has asked.");
  }
  const auto table = scores_beside(*result, name);
  auto scores = findings::scores_of(table);
  scores.num_rounds = static_cast<std::size_t>(*num_rounds);
  next.decide->after = {.run = run, .rows = findings::rows_left_by(findings::decide(scores, next, earlier.seed))};
  base::refuse_if(next.decide->after->rows.empty(), name + " left nothing undecided", "every row has its verdict");
  next.decide->plan = own.plan;
  next.decide->looks = own.looks;
  return *next.decide;
}

std::vector<sweep::KeyFault> ProbeKind::faults_of_rounds(const sweep::Job& job) const {
  const auto asked = comparison(job);
  std::vector<sweep::KeyFault> faults;
  if (!asked.decide) {
    return faults;
  }
  const auto add_if = [&](bool is_wrong, const std::string& problem, const char* why, const char* suggestion) {
    if (is_wrong) {
      faults.push_back({.key = "decide", .problem = base::describe(problem, why, suggestion)});
    }
  };
  add_if(stages(job).size() > 1, "statistics.decide: the probe '" + std::string(name()) + "' cannot stop asking",
         "its scores are effects over samples of a corpus", "Leave it out.");
  add_if(!asked.templates.empty(), "statistics.decide stands beside statistics.templates",
         "a run that stops asking deals all of its templates", "Leave the others out of axes.templates.");
  add_if(job.design().has_value(), "statistics.decide stands beside axes.design",
         "rounds deal templates and rephrasings themselves", "Leave one of them out.");
  return faults;
}

findings::Told write_findings(results::StatisticsFile& file, const std::vector<findings::Finding>& found,
                              const StatsRequest& request) {
  findings::Told told;
  for (const auto& finding : found) {
    findings::write(file.layout(), finding);
    told.add(findings::told_by(finding, request.top, request.shown));
  }
  return told;
}

std::string cells_text(const std::vector<std::string>& names, const std::vector<std::uint64_t>& counts) {
  results::TerminalTable cells({"status of a cell", "cells"});
  for (std::size_t status = 0; status < counts.size(); ++status) {
    if (counts[status] > 0) {
      cells.add({names[status], base::with_thousands(counts[status])});
    }
  }
  return cells.text();
}

std::string answers_line(const std::string& what, const std::vector<std::string>& names,
                         const std::vector<std::uint64_t>& counts) {
  const auto asked = num_asked(names, counts);
  std::string line = what + " (" + base::with_thousands(asked) + " asked):";
  for (std::size_t status = 0; status < counts.size(); ++status) {
    if (const auto name = name_of(names, status); counts[status] > 0 && name != "not_asked") {
      line += "  " + name + " " + base::with_thousands(counts[status]) +
              (name == results::not_scored ? "" : share_of(counts[status], asked));
    }
  }
  return results::wrapped(line, 2) + "\n";
}

std::string write_read_line(results::StatisticsFile& file, const results::ResultFile& result,
                            const std::vector<std::string>& names, const std::vector<std::uint64_t>& counts) {
  const auto asked = num_asked(names, counts);
  if (asked == 0) {
    return "";
  }
  const auto line = "Ratings that were read from sampled answers: " + base::with_thousands(counts.front()) + " of " +
                    base::with_thousands(asked) + " asked" + share_of(counts.front(), asked) + "." +
                    thoughts_text(result);
  file.root().write_attribute("answers_read", line);
  return line;
}

void require_result_of(const results::ResultFile& file, std::string_view probe) {
  const auto schema = file.text("schema").value_or("none");
  base::refuse_if(schema != "stereosweep/" + std::string(probe),
                  "'" + file.path().string() + "' is no result of the probe '" + std::string(probe) + "'",
                  "its schema is '" + schema + "'");
}

const ProbeKind& kind_of(std::string_view name) { return dynamic_cast<const ProbeKind&>(config::format_of(name)); }

const ProbeKind& kind_of(const sweep::Job& job) { return kind_of(job.probe_name()); }

std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  auto probe = kind_of(job).make_probe(job, &tokenizer);
  if (!probe) {
    throw std::logic_error("a probe of several stages");
  }
  return probe;
}

std::vector<std::uint8_t> visits_of(const sweep::Job& job) {
  const auto& kind = kind_of(job);
  if (const auto asked = kind.asked(job); asked.decide) {
    return findings::visiting_rounds(kind.score_axes(job), asked, job.seed, kind.left_out(job));
  }
  const auto design = job.design();
  return design ? findings::visits_of_design(kind.score_axes(job), *design, job.seed) : std::vector<std::uint8_t>();
}

sweep::BlockPlan blocks_to_ask(const sweep::Job& job, const results::RawSchema& schema, sweep::Outermost outermost) {
  const auto contexts_per_block = std::max<std::int64_t>(job.execution.contexts_per_block, 0);
  sweep::BlockPlan all(product_of(schema), static_cast<std::uint64_t>(contexts_per_block), outermost);
  auto visits = visits_of(job);
  if (visits.empty()) {
    return all;
  }
  // texts at a time are worth more than blocks of a layer, which a job of more layers could reuse
  const bool fills = job.design() && kind_of(job).samples_text(job);
  for (auto& visit : visits) {
    visit = fills && visit != sweep::never_visited ? std::uint8_t{0} : visit;
  }
  return all.dealt(base::mapped(sentences_of(schema), [&](std::uint64_t sentence) { return visits.at(sentence); }),
                   fills ? sweep::Outermost::together : sweep::Outermost::apart);
}

std::size_t outer_axis(const results::RawSchema& schema, const char* name) {
  const auto& axes = schema.outer_axes;
  const auto found = std::ranges::find(axes, name, &results::AxisSchema::name);
  base::refuse_if(found == axes.end(), "this probe cannot ask in rounds",
                  std::string("its contexts have no axis '") + name + "'");
  return static_cast<std::size_t>(found - axes.begin());
}

std::vector<std::uint64_t> sentences_of(const results::RawSchema& schema) {
  const auto template_axis = outer_axis(schema, "template");
  const auto rephrasing_axis = outer_axis(schema, "rephrasing");
  auto lengths = product_of(schema).lengths();
  lengths.front() = 1;
  const sweep::Product inside(lengths);
  std::vector<std::uint64_t> sentences(inside.num_contexts());
  for (std::uint64_t context = 0; context < sentences.size(); ++context) {
    const auto at = inside.coordinates(context);
    sentences[context] = at[template_axis] * lengths[rephrasing_axis] + at[rephrasing_axis];
  }
  return sentences;
}

}  // namespace stereosweep::probes
