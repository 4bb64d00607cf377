// A job small enough to enumerate by hand, with everything in it: both priors, two forms, a missing form, words of
// one to four pieces, an unknown one, one in two poles, a group at the start, a trait at the start.
#pragma once

#include "domain/Job.hpp"

namespace stereosweep::probe::testing {

inline domain::Group group(const char* label, const char* domain, const char* singular, const char* plural) {
  domain::Group result;
  result.label = label;
  result.domain = domain;
  result.singular = singular;
  result.plural = plural;
  return result;
}

inline domain::Job small_job() {
  domain::Job job;
  job.name = "small";
  job.association().axes.groups = {group("women", "gender", "woman", "women"),
                                   group("doctors", "occupation", "doctor", "doctors"),
                                   group("the old", "age", "", "old people")};
  job.association().axes.templates = {
      {"plural", "plural", "The {group} are {trait}.", domain::NounForm::plural},
      {"singular", "singular", "{a group} is {trait}.", domain::NounForm::singular},
      {"question", "question", "Why are {group} {trait}?", domain::NounForm::plural},
      {"trait-first", "trait first", "{trait} are the {group}.", domain::NounForm::plural}};
  job.association().axes.rephrasings = {{"none", "{prompt}", {}}, {"say", "People say: {prompt}", {}}};
  job.association().axes.traits = {
      {"powerless - powerful", "agency", {"powerless", {"powerless", "unkind"}}, {"powerful", {"powerful"}}},
      {"cold - warm", "communion", {"cold", {"cold", "zealous"}}, {"warm", {"warm", "self-kindness", "powerful"}}}};
  return job;
}

}  // namespace stereosweep::probe::testing
