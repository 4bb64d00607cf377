#include "run/Settings.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Json.hpp"
#include "model/checkpoint/quantized/Quantized.hpp"
#include "parallel/TensorGroup.hpp"
#include "results/Software.hpp"

namespace stereosweep::run {
namespace {

constexpr std::array<std::string_view, 10> tokenizer_files = {"tokenizer.json",
                                                              "tokenizer_config.json",
                                                              "special_tokens_map.json",
                                                              "added_tokens.json",
                                                              "vocab.txt",
                                                              "vocab.json",
                                                              "merges.txt",
                                                              "tokenizer.model",
                                                              "chat_template.jinja",
                                                              "chat_template.json"};

bool is_tokenizer_file(const std::string& name) { return base::contains(tokenizer_files, name); }

bool is_model_file(const std::string& name) {
  return name == "config.json" || name == "generation_config.json" || name.ends_with(".safetensors") ||
         name.ends_with(".safetensors.index.json") || name.ends_with(".gguf") || name.starts_with(base::adapter_folder);
}

bool is_elmo_file(const std::string& name) { return name.ends_with("options.json") || name.ends_with(".hdf5"); }

std::string hash_of(const base::SharedBytes& content) {
  base::Sha256 hash;
  content.read_through([&](std::span<const std::byte> part) { hash.update(part); });
  return base::to_hex(hash.finish());
}

// (field, content), by name.
std::vector<std::pair<std::string, const base::SharedBytes*>> files_that_matter(const sweep::Job& job,
                                                                                const base::FileSet& files) {
  const bool elmo = base::is_elmo(files);
  std::vector<std::pair<std::string, const base::SharedBytes*>> found;
  for (const auto& [name, content] : files.files()) {
    if (is_tokenizer_file(name)) {
      found.emplace_back("tokenizer/" + name, &content);
    } else if (!is_fake(job) && (elmo ? is_elmo_file(name) : is_model_file(name))) {
      found.emplace_back("model/" + name, &content);
    }
  }
  return found;
}

base::Json parse(const std::string& text) { return base::parse_json(text, "settings of a journal"); }

}  // namespace

bool is_fake(const sweep::Job& job) { return job.execution.engine == query::EngineKind::fake; }

engine::EngineSettings engine_settings(const sweep::Job& job) {
  return {.kind = job.execution.engine,
          .dtype = job.model.dtype,
          .device = job.execution.device,
          .threads = job.execution.threads_per_rank,
          .batch_tokens = job.execution.batch_tokens,
          .seed = job.seed,
          .tensor_group = nullptr};
}

RunSettings with_field(const RunSettings& settings, const std::string& key, const std::string& value) {
  auto json = parse(settings.text);
  json[key] = value;
  return {json.dump()};
}

FileHashes hash_files(const sweep::Job& job, const base::FileSet& files, Share share) {
  auto wanted = files_that_matter(job, files);
  std::ranges::stable_sort(
      wanted, [](const auto& left, const auto& right) { return left.second->size() > right.second->size(); });
  std::vector<std::uint64_t> loads(static_cast<std::size_t>(share.parts));
  FileHashes hashes;
  if (const auto storage = is_fake(job) ? "" : model::describe_storage(files); !storage.empty()) {
    hashes["model.storage"] = storage;
  }
  for (const auto& [field, content] : wanted) {  // the largest first, each to whom has least
    const auto least = std::ranges::min_element(loads);
    *least += content->size();
    if (least - loads.begin() == share.part) {
      hashes[field] = hash_of(*content);
    }
  }
  return hashes;
}

RunSettings make_settings(const sweep::Job& job, const FileHashes& hashes, const std::string& device) {
  base::Json json;
  if (job.model.server) {
    json["execution.engine"] = "server";
    json["model.name"] = job.model.server->name;
    json["model.interface"] = sweep::Server::interface_names[static_cast<std::size_t>(job.model.server->interface)];
    return {json.dump()};
  }
  const bool fake = is_fake(job);
  for (const auto& [field, hash] : hashes) {
    json[field] = hash;
  }
  json["execution.engine"] = fake ? "fake" : "torch";
  json["execution.threads_per_rank"] = std::to_string(job.execution.threads_per_rank);
  if (job.execution.tensor_parallel != 1) {
    json["execution.tensor_parallel"] = std::to_string(job.execution.tensor_parallel);
  }
  json["execution.batch_tokens"] = std::to_string(job.execution.batch_tokens);
  json["model.dtype"] = query::name_of(job.model.dtype);
  if (fake) {
    json["seed"] = std::to_string(job.seed);  // the fake engine's numbers come from it
  }
  json["numerics_version"] = std::to_string(engine::numerics_version);
  json["device"] = device;
  return {json.dump()};
}

RunSettings with_software(RunSettings settings, const sweep::Job& job, const parallel::GpuBinding& gpu) {
  settings = with_field(settings, "build", results::build_description());
  if (is_fake(job) || !job.reads_model()) {
    return settings;
  }
  const bool on_gpu = gpu.device >= 0;
  settings = with_field(settings, "libtorch",
                        engine::torch_description(on_gpu ? engine::Processor::gpu : engine::Processor::cpu));
  if (on_gpu) {
    settings = with_field(settings, "cuda", parallel::cuda_version());
  }
  if (on_gpu && job.execution.tensor_parallel > 1) {
    settings = with_field(settings, "nccl", parallel::nccl_description());
  }
  return settings;
}

bool is_software(const std::string& difference) {
  constexpr std::array<std::string_view, 5> keys = {"build", "cuda", "libtorch", "nccl", "numerics_version"};
  return std::ranges::find(keys, difference.substr(0, difference.find(':'))) != keys.end();
}

bool is_of_file(const std::string& difference) {
  return difference.starts_with("model/") || difference.starts_with("tokenizer/");
}

std::vector<std::string> settings_differences(const std::string& old_text, const std::string& new_text) {
  const auto before = parse(old_text);
  const auto after = parse(new_text);
  const auto text_of = [](const base::Json& json, const std::string& key) {
    const auto text = json.contains(key) ? json.at(key).get<std::string>() : std::string("(nothing)");
    return text.size() == 2 * base::Digest().size() ? std::string("a file") : text;  // a hash says nothing to anybody
  };
  std::vector<std::string> lines;
  auto all = before;
  all.update(after);
  for (const auto& [key, value] : all.items()) {
    if (before.value(key, "") != after.value(key, "")) {
      const auto was = text_of(before, key);
      const auto is = text_of(after, key);
      lines.push_back(key + ": " + (was == is ? "other content than before" : was + ", now " + is));
    }
  }
  return lines;
}

std::string field_of(const RunSettings& settings, const std::string& key) {
  return parse(settings.text).value(key, "");
}

std::string files_hash(const RunSettings& settings, const std::string& kind) {
  base::Sha256 hash;
  const auto json = parse(settings.text);
  for (const auto& [key, value] : json.items()) {
    if (key.starts_with(kind + "/")) {
      hash.field(key).field(value.get<std::string>());
    }
  }
  return base::to_hex(hash.finish());
}

}  // namespace stereosweep::run
