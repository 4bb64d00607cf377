#include "probes/interview/Interview.hpp"

#include "config/axes/AxesReader.hpp"

namespace stereosweep::probes::interview {
namespace {

using config::Node;

std::vector<PromptForm> read_form(const Node& entry, const std::string& key, const config::Fields& job) {
  PromptForm form;
  config::read_fields(entry, key, job.problems(), form, "{label: full, text: '{instructions} {question}'}");
  job.problems().add_if(form.label.empty(), entry.place(key), "a prompt form has no label",
                        "labels name the axis of the result");
  config::check_places(entry.place(key + ".text"), form.text, {{{"{question}"}, 1}, {{"{instructions}"}, 0}},
                       job.problems());
  return {form};
}

/// A wrapper is put around every question, so that full texts for single templates have no place.
void check_wrappers(const config::Fields& axes, const Interview& settings) {
  for (const auto& rephrasing : settings.rephrasings) {
    axes.problems().add_if(!rephrasing.alternatives.empty(), axes.place("rephrasings"),
                           "'" + rephrasing.label + "' has alternatives",
                           "the templates of an interview are forms of a prompt", "Give it a wrapper with {prompt}.");
  }
}

}  // namespace

sweep::SubjectList subjects_of(const Interview& settings) {
  return sweep::list_subjects(settings.groups, settings.intersections, {.singular = false, .plural = true});
}

template <class Self, class Keys>
void Interview::each_key(Self& self, Keys& keys) {
  keys.needed().told_by_block().nested("axes", [&](auto& axes) {
    config::groups_keys(axes, self.groups, self.intersections, config::GroupForms::plural);
    config::entries_key<Conversation>(
        axes, {"conversations"}, "conversations", self.conversations,
        "what is asked: a name in configs/conversations, or a list",
        [items = std::set<std::string>()](const auto&... where) mutable { return read_conversation(where..., items); });
    config::entries_key<PromptForm>(axes, {"templates"}, "prompt_forms", self.forms,
                                    "forms of the first prompt: a name in configs/prompt_forms, or a list", read_form);
    config::rephrasings_key(axes, self.rephrasings, {});
    config::design_key(axes, self.design);
    if constexpr (std::same_as<Keys, config::Fields>) {
      check_wrappers(axes, self);
    }
  });
  keys.item("sampling", self.sampling, "how answers are drawn");
}
template void Interview::each_key(Interview&, config::Fields&);
template void Interview::each_key(const Interview&, config::ShownKeys&);

void check_settings(const config::ProbeReading& job, const Interview& settings) {
  check_sampling(job.fields, settings.sampling, settings.sampling.rounds, "rounds");
  config::check_cells(job, {{sweep::most_subjects(settings.groups, settings.intersections), "groups and intersections"},
                            {settings.conversations.size(), "conversations"},
                            {settings.forms.size(), "templates"},
                            {settings.rephrasings.size(), "rephrasings"},
                            {static_cast<std::uint64_t>(settings.sampling.rounds), "rounds"}});
}

}  // namespace stereosweep::probes::interview
