#include "base/Error.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/AssociationProbe.hpp"

namespace stereosweep::probes::association {

namespace {

void check_axes(const sweep::Job& job, base::Problems& problems) {
  const auto check = [&](bool is_empty, const char* key, const char* what) {
    if (is_empty) {
      problems.add({.file = "", .line = 0, .key = key}, std::string("no ") + what, "the product would be empty");
    }
  };
  check(job.settings<Association>().axes.groups.empty() && !job.settings<Association>().priors.word &&
            !job.settings<Association>().priors.mask,
        "axes.groups", "group and no prior");
  check(list_words(job.settings<Association>().axes.traits).empty(), "axes.traits", "word of a trait");
  check(job.settings<Association>().axes.templates.empty(), "axes.templates", "template");
  check(job.settings<Association>().axes.rephrasings.empty(), "axes.rephrasings", "rephrasing");
  check(!job.settings<Association>().measures.ilps && !job.settings<Association>().measures.ilps_star &&
            !job.settings<Association>().measures.set,
        "measures", "measure");
}

/// A mask in a text of the job would be taken for the word's or the group's place.
class MaskCheck {
 public:
  MaskCheck(std::string mask_token, base::Problems& problems)
      : mask_token_(std::move(mask_token)), problems_(problems) {}
  void operator()(const std::string& text, const std::string& key) const {
    if (text.find(mask_token_) != std::string::npos) {
      problems_.add({.file = "", .line = 0, .key = key}, "'" + text + "' holds the model's mask token " + mask_token_,
                    "masks stand for the trait and for the masked group only");
    }
  }

 private:
  std::string mask_token_;
  base::Problems& problems_;
};

void check_masks(const sweep::Job& job, const std::string& mask_token, base::Problems& problems) {
  const MaskCheck check(mask_token, problems);
  for (const auto& subject : list_subjects(job.settings<Association>()).subjects) {
    if (subject.kind != sweep::SubjectKind::prior_mask) {
      check(subject.singular, "axes.groups: " + subject.label);
      check(subject.plural, "axes.groups: " + subject.label);
      check(subject.article, "axes.groups: " + subject.label);
    }
  }
  for (const auto& sentence : job.settings<Association>().axes.templates) {
    check(sentence.text, "axes.templates: " + sentence.label);
  }
  for (const auto& rephrasing : job.settings<Association>().axes.rephrasings) {
    check(rephrasing.wrapper, "axes.rephrasings: " + rephrasing.label);
    for (const auto& alternative : rephrasing.alternatives) {
      check(alternative.second, "axes.rephrasings: " + rephrasing.label);
    }
  }
  for (const auto& entry : list_words(job.settings<Association>().axes.traits)) {
    check(entry.word, "axes.traits: " + entry.pole);
  }
}

}  // namespace

std::unique_ptr<Probe> make_association(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  base::Problems problems;
  check_axes(job, problems);
  if (!tokenizer.mask_token() || !tokenizer.mask_id()) {
    problems.add({.file = "", .line = 0, .key = "model.path"}, "the tokenizer has no mask token",
                 "association asks a masked language model", "use a BERT or RoBERTa checkpoint");
  } else if (problems.empty()) {
    check_masks(job, *tokenizer.mask_token(), problems);
  }
  problems.raise_if_any("the job cannot be probed");
  return std::make_unique<AssociationProbe>(job, tokenizer);
}

}  // namespace stereosweep::probes::association
