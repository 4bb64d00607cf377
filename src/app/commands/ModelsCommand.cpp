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
#include "base/text/JsonValue.hpp"
#include "base/text/Text.hpp"
#include "model/checkpoint/CheckpointOutline.hpp"
#include "model/checkpoint/Safetensors.hpp"
#include "model/checkpoint/quantized/Quantized.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "results/tables/TerminalTable.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::app {
namespace {

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

std::string size_text(std::uint64_t bytes) {
  const auto megabytes = static_cast<double>(bytes) / 1e6;
  return megabytes < 1000 ? probes::format_number("%.3g MB", megabytes)
                          : probes::format_number("%.3g GB", megabytes / 1000);
}

std::string line_of(const std::string& name, const std::string& text) {
  const auto line = "  " + name + std::string(10 - name.size(), ' ') + base::printable(text) + "\n";
  return text.empty() ? "" : results::wrapped(line, 12);
}

std::string size_line(const base::FileSet& files) {
  std::uint64_t bytes = 0;
  for (const auto& [name, content] : files.files()) {
    bytes += base::is_weight_file(name) ? content.size() : 0;
  }
  return line_of("size", bytes == 0 ? "" : size_text(bytes) + " of weights");
}

/// Of weights that are not stored as plain numbers.
std::string storage_lines(const base::FileSet& files) {
  const auto storage = base::is_elmo(files) ? "" : model::describe_storage(files);
  if (storage.empty()) {
    return "";
  }
  std::uint64_t numbers = 0;
  for (const auto& [name, tensor] : model::read_stored_tensors(files)) {
    numbers += static_cast<std::uint64_t>(tensor.count());
  }
  return line_of("stored", storage) + line_of("memory", size_text(4 * numbers) + " of weights in float32, " +
                                                            size_text(2 * numbers) + " in bfloat16 or float16");
}

/// All probes that there are, by why they do not fit.
std::string probes_lines(const model::CheckpointOutline& outline, const tokenizer::Tokenizer& tokenizer) {
  auto names = base::mapped(config::probe_formats(), [](const auto* format) { return std::string(format->name()); });
  std::ranges::sort(names);
  std::map<std::string, std::vector<std::string>> found;
  for (const auto& name : names) {
    found[why_not(probes::kind_of(name), outline, tokenizer)].push_back(name);
  }
  const auto fits = found.extract("");
  const auto part_of = [](const auto& part) { return base::join(part.second, ", ") + " (" + part.first + ")"; };
  return line_of("fits", fits.empty() ? "" : base::join(fits.mapped(), ", ")) +
         line_of("not", base::join(base::mapped(found, part_of), "; "));
}

/// What lies in one directory. Never throws for what its files hold: that is a problem that is told.
std::string model_text(const fs::path& directory, const std::string& name, const std::string& revision) {
  std::string family;
  std::string head;
  std::string rest;
  try {
    const auto files =
        base::read_checkpoint_files(base::checkpoint_directory(directory.string()), base::CheckpointPart::all_files);
    rest = size_line(files);
    family = base::is_elmo(files) ? "elmo" : base::read_json(files, "config.json")["model_type"].text_or("");
    const auto outline = model::read_outline(files);
    rest += storage_lines(files);
    base::refuse_if(!outline.has_weights, "no weights lie here", "the configuration alone does",
                    base::download_suggestion(files.directory()));
    const auto tokenizer = tokenizer::Tokenizer::from_files(files);
    rest += probes_lines(outline, tokenizer);
    head = head_of(outline);
  } catch (const base::Error& error) {
    rest += line_of("problem", base::replace_all(error.what(), directory.string() + "/", ""));
  }
  return base::printable(name) + '\n' + line_of("revision", revision) + line_of("family", family) +
         line_of("head", head) + rest;
}

/// Of every snapshot of the Hugging Face cache: by what model.path takes.
std::string cached_models_text() {
  std::string text;
  for (const auto& snapshot : base::list_hub_cache(base::hub_cache())) {
    const bool is_main = base::contains(snapshot.refs, "main");
    const auto revision = snapshot.refs.empty() ? snapshot.commit : snapshot.refs.front();
    const auto refs = snapshot.refs.empty() ? "" : " (" + base::join(snapshot.refs, ", ") + ")";
    text += model_text(snapshot.directory, snapshot.name + (is_main ? "" : "@" + revision), snapshot.commit + refs);
  }
  return text;
}

/// Of the checkpoint `directory`, or of those in its folders. Throws InputError where there is none.
std::string models_text(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> places = {directory};
  if (!holds_checkpoint(directory)) {
    places = base::entries_of(directory, error);
    std::erase_if(places, [](const fs::path& path) { return !holds_checkpoint(path); });
  }
  base::refuse_if(
      places.empty(), "no model in '" + directory.string() + "'",
      error ? error.message() : "neither it nor a folder in it holds a config.json, an options.json or a GGUF file");
  std::ranges::sort(places);
  std::string text;
  for (const auto& place : places) {
    text += model_text(place, place.string(), "");
  }
  return text;
}

base::ExitCode execute_models(const CommandLine& line) {
  auto text = cached_models_text();
  for (const auto& place : line.places) {
    text += models_text(place);
  }
  if (text.empty()) {
    std::cout << "no models in the Hugging Face cache " << base::hub_cache().string() << "; fetch one, for example:\n  "
              << base::download_command({"google-bert/bert-base-uncased", "main"}) << '\n';
  }
  std::cout << text;
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
