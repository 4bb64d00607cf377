// A checkpoint's tensors from one file or from the shards that its index lists.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

#include "base/Error.hpp"
#include "base/Json.hpp"
#include "base/Text.hpp"
#include "model/Safetensors.hpp"

namespace stereosweep::model {
namespace {

using base::describe;
using base::InputError;
using base::json_quote;

constexpr auto single_file = "model.safetensors";
constexpr auto index_file = "model.safetensors.index.json";
constexpr std::size_t max_index_depth = 8;

bool is_plain_shard_name(const std::string& name) {
  const auto plain = [](unsigned char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '.' || letter == '_' || letter == '-';
  };
  return name.ends_with(".safetensors") && name.front() != '.' && std::all_of(name.begin(), name.end(), plain);
}

// Tensor name -> shard, as the index says.
std::map<std::string, std::string> read_index(const base::SharedBytes& content, const std::string& place) {
  const auto index = base::parse_json(content.text(), place, {max_index_depth});
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) {
    throw InputError(place + ": " + describe("weight_map is missing", "it maps tensor names to shard files"));
  }
  std::map<std::string, std::string> shard_of;
  for (const auto& [tensor, shard] : index["weight_map"].items()) {
    if (!shard.is_string() || !is_plain_shard_name(shard.get_ref<const std::string&>())) {
      throw InputError(place + ": " +
                       describe("weight_map." + tensor + " names " + shard.dump(),
                                "a shard is a plain file name in the same directory that ends with .safetensors"));
    }
    shard_of.emplace(tensor, shard.get<std::string>());
  }
  if (shard_of.empty()) {
    throw InputError(place + ": " + describe("weight_map is empty", "a checkpoint has tensors"));
  }
  return shard_of;
}

/// The name of a pickle file of weights; "" where there is none.
std::string find_pickle(const base::FileSet& files) {
  std::error_code ignored;
  for (const auto* name : {"pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt", "model.pth"}) {
    if (std::filesystem::exists(std::filesystem::path(files.directory()) / name, ignored)) {
      return name;
    }
  }
  return "";
}

[[noreturn]] void no_weights(const base::FileSet& files) {
  if (const auto pickle = find_pickle(files); !pickle.empty()) {
    throw InputError(describe(files.directory() + "/" + pickle + " is not read",
                              "a pickle file runs code of whoever wrote it",
                              "convert to safetensors: model.save_pretrained(..., safe_serialization=True)"));
  }
  throw InputError(describe(files.directory() + " holds neither " + single_file + " nor " + index_file,
                            "weights are read from safetensors only", "convert to safetensors"));
}

StoredTensors read_shards(const base::FileSet& files, const base::SharedBytes& index) {
  const auto place = files.directory() + "/" + index_file;
  const auto shard_of = read_index(index, place);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : shard_of) {
    shards.insert(shard);
  }
  std::vector<std::string> missing;
  std::ranges::copy_if(shards, std::back_inserter(missing),
                       [&](const std::string& shard) { return files.find(shard) == nullptr; });
  if (!missing.empty()) {  // before any tensor is looked for: it may be listed for one of these
    throw InputError(
        place + ": " +
        describe("it names " + base::counted(missing.size(), "shard") + " that " +
                     (missing.size() == 1 ? "is" : "are") + " not in the directory: " + base::join(missing, ", "),
                 std::to_string(shards.size() - missing.size()) + " of " + std::to_string(shards.size()) + " are there",
                 "Fetch the checkpoint again."));
  }
  StoredTensors all;
  for (const auto& shard : shards) {
    for (auto& [tensor, stored] : parse_safetensors(files.at(shard), files.directory() + "/" + shard)) {
      const auto listed = shard_of.find(tensor);
      if (const auto other = all.find(tensor); other != all.end()) {
        throw InputError(stored.file + ": " +
                         describe("tensor " + json_quote(tensor) + " is also in " + other->second.file,
                                  "one of them would be ignored"));
      }
      if (listed == shard_of.end() || listed->second != shard) {
        throw InputError(stored.file + ": " +
                         describe("tensor " + json_quote(tensor) + " is not listed for this shard",
                                  std::string(index_file) + " must list every tensor"));
      }
      all.emplace(tensor, std::move(stored));
    }
  }
  for (const auto& [tensor, shard] : shard_of) {
    if (!all.contains(tensor)) {
      throw InputError(files.directory() + "/" + shard + ": " +
                       describe("tensor " + json_quote(tensor) + " is missing", std::string(index_file) + " lists it"));
    }
  }
  return all;
}

}  // namespace

bool has_weights(const base::FileSet& files) {
  const auto is_weights = [](const auto& row) { return base::is_weight_file(row.first) || row.first == index_file; };
  return std::ranges::any_of(files.files(), is_weights) || !find_pickle(files).empty();
}

StoredTensors read_stored_tensors(const base::FileSet& files) {
  if (const auto* single = files.find(single_file); single != nullptr) {
    return parse_safetensors(*single, files.directory() + "/" + single_file);
  }
  if (const auto* index = files.find(index_file); index != nullptr) {
    return read_shards(files, *index);
  }
  no_weights(files);
}

}  // namespace stereosweep::model
