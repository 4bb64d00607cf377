// A job small enough to enumerate by hand, with everything in it: both priors, two forms, a missing form, words of
// one to four pieces, an unknown one, one in two poles, a group at the start, a trait at the start.
#pragma once

#include "probes/association/Association.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::testing {

inline sweep::Group group(const char* label, const char* domain, const char* singular, const char* plural) {
  sweep::Group result;
  result.label = label;
  result.domain = domain;
  result.singular = singular;
  result.plural = plural;
  return result;
}

inline sweep::Job small_job() {
  sweep::Job job;
  job.probe = probes::association::Association();
  job.name = "small";
  job.settings<probes::association::Association>().axes.groups = {group("women", "gender", "woman", "women"),
                                                                  group("doctors", "occupation", "doctor", "doctors"),
                                                                  group("the old", "age", "", "old people")};
  job.settings<probes::association::Association>().axes.templates = {
      {"plural", "plural", "The {group} are {trait}.", sweep::NounForm::plural},
      {"singular", "singular", "{a group} is {trait}.", sweep::NounForm::singular},
      {"question", "question", "Why are {group} {trait}?", sweep::NounForm::plural},
      {"trait-first", "trait first", "{trait} are the {group}.", sweep::NounForm::plural}};
  job.settings<probes::association::Association>().axes.rephrasings = {{"none", "{prompt}", {}},
                                                                       {"say", "People say: {prompt}", {}}};
  job.settings<probes::association::Association>().axes.traits = {
      {"powerless - powerful", "agency", {"powerless", {"powerless", "unkind"}}, {"powerful", {"powerful"}}},
      {"cold - warm", "communion", {"cold", {"cold", "zealous"}}, {"warm", {"warm", "self-kindness", "powerful"}}}};
  return job;
}

}  // namespace stereosweep::probes::testing
