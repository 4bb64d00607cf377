#include "run/checks/ModelCheck.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/HubCache.hpp"
#include "base/files/Listing.hpp"
#include "base/text/Text.hpp"
#include "engine/EngineFactory.hpp"
#include "model/causal/CausalSize.hpp"
#include "model/checkpoint/CheckpointOutline.hpp"
#include "model/families/Families.hpp"
#include "probes/ProbeKind.hpp"

namespace stereosweep::run {
namespace {

using Kind = model::CheckpointOutline::Kind;

/// What the probe asks for; nothing: the vectors that every kind of model has.
std::optional<Kind> wanted_kind(const sweep::Job& job) {
  const auto prediction = probes::kind_of(job).prediction();
  if (!prediction) {
    return std::nullopt;
  }
  return *prediction == query::Prediction::masked ? Kind::masked : Kind::causal;
}

std::string text_of(Kind kind) {
  return kind == Kind::masked   ? "a masked model (BERT, RoBERTa)"
         : kind == Kind::causal ? "a causal model (GPT-2, LLaMA, ...)"
                                : "an ELMo model";
}

std::string needed_files(const sweep::Job& job) {
  const auto kind = wanted_kind(job);
  return "config.json, the tokenizer and model.safetensors of " + (kind ? text_of(*kind) : "a model");
}

void check_kind(const sweep::Job& job, const model::CheckpointOutline& outline) {
  const auto wanted = wanted_kind(job);
  const auto probe = "the probe '" + job.probe_name() + "'";
  if (wanted && outline.kind != *wanted) {
    base::refuse("'" + job.model.path + "' is " + text_of(outline.kind), probe + " asks " + text_of(*wanted),
                 "Name another model.");
  }
  base::refuse_if(wanted && !outline.has_head, "'" + job.model.path + "' has no head that predicts words",
                  probe + " asks for probabilities of words",
                  "Take a checkpoint that was saved with its language-model head, such as the *ForMaskedLM ones.");
}

/// Throws InputError as the first step of a run that cannot go on would.
void check_files(const sweep::Job& job, const base::FileSet& files, const model::CheckpointOutline& outline) {
  check_kind(job, outline);
  const auto slices = job.execution.tensor_parallel;
  if (outline.kind == Kind::causal) {
    model::slice_of(model::read_causal_specification(files), {0, slices});
  } else {
    base::refuse_if(slices != 1, "execution.tensor_parallel with " + text_of(outline.kind),
                    "only causal models are cut into slices", "Set tensor_parallel: 1.");
  }
  if (const auto vectors = probes::kind_of(job).vectors(job)) {
    engine::vector_width(job.execution.engine, files, *vectors);
  }
}

ModelReport examine_directory(const sweep::Job& job) {
  ModelReport report;
  const auto attempt = [&](auto action) {
    try {
      action();
    } catch (const base::InputError& error) {
      report.faults.emplace_back(error.what());
    } catch (const base::Error& error) {  // of this machine, such as its limit of memory
      report.notes.push_back("the model '" + job.model.path + "' could not be looked at: " + error.what());
    }
  };
  attempt([&] {
    const auto files = base::read_checkpoint_files(base::checkpoint_place(job.model.location(), job.model.adapter),
                                                   base::CheckpointPart::all_files);
    std::optional<model::CheckpointOutline> outline;
    if (job.execution.engine != query::EngineKind::fake) {
      attempt([&] {
        outline = model::read_outline(files);
        check_files(job, files, *outline);
      });
    }
    const bool holds_less = outline && !outline->has_weights;
    if (holds_less) {
      report.notes.push_back("the model '" + job.model.path + "' has no weights on this machine; run will need " +
                             needed_files(job));
    }
    if (holds_less && !has_tokenizer(files)) {
      return;
    }
    attempt([&] {
      const auto tokenizer = tokenizer::Tokenizer::from_files(files);
      report.warnings = tokenizer.warnings();
      if (report.faults.empty()) {  // a model of another kind has no mask
        require_mask(job, tokenizer);
      }
    });
  });
  return report;
}

}  // namespace

void require_fitting(const sweep::Job& job, const base::FileSet& files) {
  check_files(job, files, model::read_outline(files));
}

void require_mask(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  if (wanted_kind(job) != Kind::masked) {
    return;
  }
  const auto mask = tokenizer.mask_token();
  const auto asks = "the probe '" + job.probe_name() + "' asks what stands at masks";
  base::refuse_if(!mask, "the tokenizer of '" + job.model.path + "' has no mask token", asks);
  const auto ids = tokenizer.encode("The " + *mask + " is.", tokenizer::SpecialTokens::leave_out).ids;
  base::refuse_if(
      !base::contains(ids, *tokenizer.mask_id()),
      "a text with " + base::json_quote(*mask) + " does not give the mask token of '" + job.model.path + "'",
      asks + ", and its tokenizer cuts this one into pieces: it is in the vocabulary, but no added token",
      "Add it to \"added_tokens\" of tokenizer.json, or name it as \"mask_token\" in tokenizer_config.json.");
}

bool has_tokenizer(const base::FileSet& files) {
  const auto names = {"tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model"};
  return std::ranges::any_of(names, [&](const char* name) { return files.find(name) != nullptr; });
}

const ModelReport& ModelCheck::examine(const sweep::Job& job) {
  std::string key = job.probe_name() + " " + std::to_string(job.execution.tensor_parallel) + " " +
                    std::to_string(static_cast<int>(job.execution.engine)) + " " + job.model.location() + " " +
                    job.model.adapter;
  if (const auto vectors = probes::kind_of(job).vectors(job)) {
    key = std::to_string(vectors->layer) + " " + std::to_string(static_cast<int>(vectors->source)) + " " + key;
  }
  auto found = known_.find(key);
  if (found == known_.end()) {
    ModelReport report;
    if (job.needs_model() && !job.model.path.empty()) {
      const auto cached = base::parse_hub_name(job.model.location());
      if (base::is_url(job.model.path) || base::is_there(job.model.location()) ||
          (cached && base::find_in_hub_cache(*cached))) {
        report = examine_directory(job);
      } else {
        report.notes.push_back("the model '" + job.model.path + "' is not on this machine; run will need " +
                               needed_files(job) + (cached ? ". Fetch it: " + base::download_command(*cached) : ""));
      }
    }
    found = known_.emplace(std::move(key), std::move(report)).first;
  }
  return found->second;
}

}  // namespace stereosweep::run
