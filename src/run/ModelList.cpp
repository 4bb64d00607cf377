#include "run/ModelList.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/text/Text.hpp"
#include "model/checkpoint/CheckpointOutline.hpp"
#include "model/checkpoint/ConfigFields.hpp"
#include "probes/ProbeKind.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::run {
namespace {

namespace fs = std::filesystem;
using OutlineKind = model::CheckpointOutline::Kind;

bool holds_checkpoint(const fs::path& directory) {
  std::error_code ignored;
  return fs::exists(directory / "config.json", ignored) || fs::exists(directory / "options.json", ignored);
}

/// "" where the probe fits.
std::string why_not(const probes::ProbeKind& kind, const model::CheckpointOutline& outline,
                    const tokenizer::Tokenizer& tokenizer) {
  const auto prediction = kind.prediction();
  if (!prediction) {
    return "";
  }
  const bool asks_masks = *prediction == query::Prediction::masked;
  if (outline.kind != (asks_masks ? OutlineKind::masked : OutlineKind::causal)) {
    return asks_masks ? "it asks masked models" : "it asks causal models";
  }
  if (!outline.has_head) {
    return "no head that predicts words is stored";
  }
  return asks_masks && !tokenizer.mask_id() ? "the tokenizer has no mask token" : "";
}

std::string head_of(const model::CheckpointOutline& outline) {
  if (!outline.has_head) {
    return "none: vectors alone";
  }
  return outline.kind == OutlineKind::masked ? "masked" : "causal";
}

/// Throws InputError with what keeps every probe from the model.
void look_inside(const base::FileSet& files, ListedModel& found) {
  const bool elmo = base::is_elmo(files);
  found.family = elmo ? "elmo" : model::ConfigFields(files).text("model_type", "");
  const auto outline = model::read_outline(files);
  base::refuse_if(!outline.has_weights, "no weights lie here", "the configuration alone does",
                  base::download_suggestion(files.directory()));
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  found.head = head_of(outline);
  for (const auto* format : config::probe_formats()) {
    const auto& kind = probes::kind_of(format->name());
    found.probes.push_back({std::string(kind.name()), why_not(kind, outline, tokenizer)});
  }
  std::ranges::sort(found.probes, {}, &ProbeFit::probe);
}

}  // namespace

ListedModel look_at_model(const fs::path& directory) {
  ListedModel found;
  found.path = directory.string();
  try {
    const auto files = base::read_checkpoint_files(directory, base::CheckpointPart::all_files);
    for (const auto& [name, content] : files.files()) {
      found.weight_bytes += base::is_weight_file(name) ? content.size() : 0;
    }
    look_inside(files, found);
  } catch (const base::Error& error) {
    found.head.clear();
    found.probes.clear();
    found.problem = base::replace_all(error.what(), directory.string() + "/", "");
  }
  return found;
}

std::vector<ListedModel> list_cached_models() {
  std::vector<ListedModel> models;
  for (const auto& snapshot : base::list_hub_cache(base::hub_cache())) {
    auto found = look_at_model(snapshot.directory);
    const bool is_main = base::contains(snapshot.refs, "main");
    const auto revision = snapshot.refs.empty() ? snapshot.commit : snapshot.refs.front();
    found.path = snapshot.name + (is_main ? "" : "@" + revision);
    found.commit = snapshot.commit;
    found.refs = snapshot.refs;
    models.push_back(std::move(found));
  }
  return models;
}

std::vector<ListedModel> list_models_in(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> places;
  if (holds_checkpoint(directory)) {
    places.push_back(directory);
  } else {
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      if (holds_checkpoint(entry.path())) {
        places.push_back(entry.path());
      }
    }
  }
  base::refuse_if(places.empty(), "no model in '" + directory.string() + "'",
                  error ? error.message() : "neither it nor a folder in it holds a config.json or an options.json");
  std::ranges::sort(places);
  return base::mapped(places, look_at_model);
}

}  // namespace stereosweep::run
