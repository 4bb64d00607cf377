#include "probes/interview/Interview.hpp"

#include <algorithm>
#include <array>

#include "base/text/Text.hpp"
#include "config/axes/AxesReader.hpp"
#include "config/axes/AxisSource.hpp"

namespace stereosweep::probes::interview {
namespace {

using config::Node;

std::vector<PromptForm> read_forms(const Node& node, const config::ProbeReading& job) {
  return config::read_entries<PromptForm>(
      node, "prompt_forms", "axes.templates", job.pieces, job.problems, [&](const Node& entry, const std::string& key) {
        PromptForm form;
        config::read_fields(entry, key, job.problems, form, "{label: full, text: '{instructions} {question}'}");
        if (form.label.empty()) {
          job.problems.add(entry.place(key), "a prompt form has no label", "labels name the axis of the result");
        }
        check_braces(entry, key + ".text", form.text, {"{question}", "{instructions}"}, job.problems);
        if (base::count_of(form.text, "{question}") != 1 || base::count_of(form.text, "{instructions}") > 1) {
          job.problems.add(entry.place(key + ".text"), "'" + base::excerpt(form.text, 60) + "' is no prompt form",
                           "one {question} and at most one {instructions} are expected");
        }
        return std::vector{form};
      });
}

/// A wrapper is put around every question, so that full texts for single
/// templates have no place.
void read_wrappers(const Node& node, const config::ProbeReading& job, Interview& settings) {
  settings.rephrasings = config::read_rephrasings(node, "axes.rephrasings", job.pieces, job.problems, {});
  for (const auto& rephrasing : settings.rephrasings) {
    if (!rephrasing.alternatives.empty()) {
      job.problems.add(node.place("axes.rephrasings"), "'" + rephrasing.label + "' has alternatives",
                       "the templates of an interview are forms of a prompt", "Give it a wrapper with {prompt}.");
    }
  }
}

void read_axes(const Node& node, const config::ProbeReading& job, Interview& settings) {
  config::Fields axes(node, "axes", job.problems);
  std::vector<sweep::Group> unselected;
  if (const Node* groups = axes.required("groups")) {
    settings.groups = config::read_plural_groups(*groups, "axes.groups", job.pieces, job.problems, unselected);
  }
  if (const Node* rule = axes.optional("intersections")) {
    settings.intersections =
        config::read_intersections(*rule, "axes.intersections", job.pieces, job.problems, settings.groups, unselected);
  }
  if (const Node* conversations = axes.required("conversations")) {
    settings.conversations = read_conversations(*conversations, job);
  }
  if (const Node* forms = axes.optional("templates")) {
    settings.forms = read_forms(*forms, job);
  } else {
    settings.forms = {{.label = "full", .text = "{instructions}\n\n{question}"}};
  }
  if (const Node* rephrasings = axes.optional("rephrasings")) {
    read_wrappers(*rephrasings, job, settings);
  }
  axes.finish();
}

Node dump_axes(const Interview& settings) {
  Node axes = Node::map();
  axes.add("groups", config::dump(settings.groups));
  axes.add("intersections", config::dump(settings.intersections));
  axes.add("conversations", config::list_of(settings.conversations, dump_conversation));
  axes.add("templates", config::list_of(settings.forms, config::dump_fields<PromptForm>));
  axes.add("rephrasings", config::dump(settings.rephrasings));
  return axes;
}

void read_sampling(const Node& node, const config::ProbeReading& job, Interview& settings) {
  auto& sampling = settings.sampling;
  config::Fields fields(node, "sampling", job.problems);
  InterviewSampling::each_key(sampling, fields);
  sampling.stop = read_stops(fields.optional("stop"), job.problems);
  fields.finish();
  if (sampling.temperature == 0 && sampling.rounds > 1) {
    job.problems.add(node.place("sampling.rounds"), std::to_string(sampling.rounds) + " rounds at temperature 0",
                     "greedy answers are all the same", "Set rounds: 1, or a temperature.");
  }
}

Node dump_sampling(const Interview& settings) {
  Node map = config::dump_fields(settings.sampling);
  map.add("stop", config::texts(settings.sampling.stop));
  return map;
}

/// A key of the job: how it is read where it is given, and dumped.
struct Key {
  const char* name;
  void (*read)(const Node& node, const config::ProbeReading& job, Interview& settings);
  Node (*dump)(const Interview& settings);
};
const std::array keys = {Key{"axes", read_axes, dump_axes}, Key{"sampling", read_sampling, dump_sampling}};

}  // namespace

sweep::SubjectList subjects_of(const Interview& settings) {
  return sweep::list_subjects(settings.groups, settings.intersections, {.singular = false, .plural = true});
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const auto& key : keys) {
    names.emplace_back(key.name);
  }
  names.emplace_back("statistics");
  return names;
}

Interview read_settings(const config::ProbeReading& job) {
  Interview settings;
  job.fields.required("axes");
  for (const auto& key : keys) {
    if (const Node* node = job.fields.optional(key.name)) {
      key.read(*node, job, settings);
    }
  }
  if (const Node* statistics = job.fields.optional("statistics")) {  // what is left of it: no key is the probe's own
    config::Fields(*statistics, "statistics", job.problems).finish();
  }
  config::check_cells(job, {{sweep::most_subjects(settings.groups, settings.intersections), "groups and intersections"},
                            {settings.conversations.size(), "conversations"},
                            {settings.forms.size(), "templates"},
                            {settings.rephrasings.size(), "rephrasings"},
                            {static_cast<std::uint64_t>(settings.sampling.rounds), "rounds"}});
  return settings;
}

void dump_settings(const Interview& settings, config::Node& job) {
  for (const auto& key : keys) {
    job.add(key.name, key.dump(settings));
  }
}

}  // namespace stereosweep::probes::interview
