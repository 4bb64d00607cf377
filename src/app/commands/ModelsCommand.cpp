#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/files/Listing.hpp"
#include "base/text/Text.hpp"
#include "model/checkpoint/CheckpointOutline.hpp"
#include "model/checkpoint/ConfigFields.hpp"
#include "model/checkpoint/Safetensors.hpp"
#include "model/checkpoint/quantized/Quantized.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "results/tables/TerminalTable.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::app {
namespace {

struct ListedModel {
  std::string path;               ///< what model.path takes: a place, or ORG/NAME with the revision that needs it
  std::string commit;             ///< of a cache's snapshot; empty for a directory
  std::vector<std::string> refs;  ///< branches and tags at that commit
  std::string family;             ///< model_type of config.json, "elmo"; empty: unknown
  std::string head;               ///< "masked", "causal", "none: vectors alone"; empty where nothing can be asked
  std::uint64_t weight_bytes = 0;
  std::string storage;            ///< how the weights are stored; empty: as plain numbers
  std::uint64_t num_numbers = 0;  ///< of weights, where they are not
  /// All probes that there are, sorted, by why they do not fit ("": they do); empty where nothing can be asked.
  std::map<std::string, std::vector<std::string>> probes;
  std::string problem;  ///< why nothing can be asked; empty: something can
};

namespace fs = std::filesystem;
using OutlineKind = model::CheckpointOutline::Kind;

/// A folder with one, or a GGUF file.
bool holds_checkpoint(const fs::path& place) {
  std::error_code ignored;
  const auto has_one_gguf = [&] {
    fs::directory_iterator at(place, ignored);
    return std::ranges::count_if(begin(at), end(at), base::is_gguf, &fs::directory_entry::path) == 1;
  };
  return base::is_there(place / "config.json") || base::is_there(place / "options.json") || base::is_gguf(place) ||
         has_one_gguf();
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
  found.storage = elmo ? "" : model::describe_storage(files);
  if (!found.storage.empty()) {
    for (const auto& [name, tensor] : model::read_stored_tensors(files)) {
      found.num_numbers += static_cast<std::uint64_t>(tensor.count());
    }
  }
  base::refuse_if(!outline.has_weights, "no weights lie here", "the configuration alone does",
                  base::download_suggestion(files.directory()));
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  found.head = head_of(outline);
  auto names = base::mapped(config::probe_formats(), [](const auto* format) { return std::string(format->name()); });
  std::ranges::sort(names);
  for (const auto& name : names) {
    found.probes[why_not(probes::kind_of(name), outline, tokenizer)].push_back(name);
  }
}

/// What lies in one directory. Never throws for what its files hold: that is `problem`.
ListedModel look_at_model(const fs::path& directory) {
  ListedModel found;
  found.path = directory.string();
  try {
    const auto place = base::checkpoint_directory(directory.string());
    const auto files = base::read_checkpoint_files(place, base::CheckpointPart::all_files);
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

/// Every snapshot of the Hugging Face cache.
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

/// The checkpoint `directory`, or those in its folders. Throws InputError where there is none.
std::vector<ListedModel> list_models_in(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> places;
  if (holds_checkpoint(directory)) {
    places.push_back(directory);
  } else {
    places = base::entries_of(directory, error);
    std::erase_if(places, [](const fs::path& path) { return !holds_checkpoint(path); });
  }
  base::refuse_if(
      places.empty(), "no model in '" + directory.string() + "'",
      error ? error.message() : "neither it nor a folder in it holds a config.json, an options.json or a GGUF file");
  std::ranges::sort(places);
  return base::mapped(places, look_at_model);
}

std::string size_text(std::uint64_t bytes) {
  const auto megabytes = static_cast<double>(bytes) / 1e6;
  return megabytes < 1000 ? probes::format_number("%.3g MB", megabytes)
                          : probes::format_number("%.3g GB", megabytes / 1000);
}

void print_model(std::ostream& out, const ListedModel& model) {
  out << base::printable(model.path) << '\n';
  const auto line = [&](const std::string& name, const std::string& text) {
    if (!text.empty()) {
      out << results::wrapped("  " + name + std::string(10 - name.size(), ' ') + base::printable(text) + "\n", 12);
    }
  };
  line("revision", model.commit + (model.refs.empty() ? "" : " (" + base::join(model.refs, ", ") + ")"));
  line("family", model.family);
  line("head", model.head);
  line("size", model.weight_bytes == 0 ? "" : size_text(model.weight_bytes) + " of weights");
  line("stored", model.storage);
  line("memory", model.num_numbers == 0 ? ""
                                        : size_text(4 * model.num_numbers) + " of weights in float32, " +
                                              size_text(2 * model.num_numbers) + " in bfloat16 or float16");
  auto unfit = model.probes;
  const auto fits = unfit.extract("");
  line("fits", fits.empty() ? "" : base::join(fits.mapped(), ", "));
  const auto part_of = [](const auto& part) { return base::join(part.second, ", ") + " (" + part.first + ")"; };
  line("not", base::join(base::mapped(unfit, part_of), "; "));
  line("problem", model.problem);
}

base::ExitCode execute_models(const CommandLine& line) {
  auto models = list_cached_models();
  for (const auto& place : line.places) {
    const auto found = list_models_in(place);
    models.insert(models.end(), found.begin(), found.end());
  }
  if (models.empty()) {
    std::cout << "no models in the Hugging Face cache " << base::hub_cache().string() << "; fetch one, for example:\n  "
              << base::download_command({"google-bert/bert-base-uncased", "main"}) << '\n';
  }
  for (const auto& model : models) {
    print_model(std::cout, model);
  }
  return base::ExitCode::done;
}

}  // namespace

const Command models_command{"models",
                             "models on this machine, which probes they fit",
                             "stereosweep models [DIR ...]: the models in the Hugging Face cache and in directories:\n"
                             "what model.path takes, revision, family, head, size, which probes fit, why not.\n"
                             "No number of a weight is read, and nothing is downloaded",
                             execute_models,
                             Places::any,
                             "directory"};

}  // namespace stereosweep::app
