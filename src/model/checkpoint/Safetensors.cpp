#include "model/checkpoint/Safetensors.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>

#include <array>
#include <filesystem>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/HubCache.hpp"
#include "base/text/JsonValue.hpp"
#include "base/text/Text.hpp"
#include "model/checkpoint/quantized/Quantized.hpp"

namespace stereosweep::model {

namespace {

using base::json_quote;

constexpr std::uint64_t max_header_bytes = 100'000'000;  // the reference reader's limit
constexpr std::size_t max_rank = 8;
constexpr std::size_t max_header_depth = 4;

/// As the format writes the types that a checkpoint may hold.
constexpr std::array<std::pair<at::ScalarType, const char*>, 15> type_names = {{{at::kBool, "BOOL"},
                                                                                {at::kChar, "I8"},
                                                                                {at::kByte, "U8"},
                                                                                {at::kShort, "I16"},
                                                                                {at::kUInt16, "U16"},
                                                                                {at::kInt, "I32"},
                                                                                {at::kUInt32, "U32"},
                                                                                {at::kLong, "I64"},
                                                                                {at::kUInt64, "U64"},
                                                                                {at::kFloat8_e4m3fn, "F8_E4M3"},
                                                                                {at::kFloat8_e5m2, "F8_E5M2"},
                                                                                {at::kHalf, "F16"},
                                                                                {at::kBFloat16, "BF16"},
                                                                                {at::kFloat, "F32"},
                                                                                {at::kDouble, "F64"}}};

[[noreturn]] void refuse(const std::string& file, std::string_view problem, std::string_view why) {
  base::refuse(file + ": " + std::string(problem), why);
}

void refuse_if(bool is_wrong, const std::string& file, std::string_view problem, std::string_view why) {
  if (is_wrong) {
    refuse(file, problem, why);
  }
}

// What the JSON says of one tensor, before it is held against the data.
struct Entry {
  std::string name;
  at::ScalarType type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin;
  std::uint64_t end;
};

at::ScalarType type_in(const base::JsonValue& value) {
  const auto named = value.text();
  const auto* found = std::ranges::find(type_names, named, [](const auto& row) { return row.second; });
  value.refuse_if(found == std::end(type_names), json_quote(named) + " is not supported",
                  "whole bytes from BOOL to U64, F8_E4M3, F8_E5M2, F16, BF16, F32 and F64 are");
  return found->first;
}

Entry entry_in(const std::string& name, const base::JsonValue& value) {
  value.refuse_others({"dtype", "shape", "data_offsets"});
  const auto shape = value["shape"];
  const auto offsets = value["data_offsets"];
  shape.refuse_if(shape.list().size() > max_rank, std::to_string(shape.list().size()) + " sizes",
                  "at most " + std::to_string(max_rank) + " are read");
  offsets.refuse_if(offsets.list().size() != 2, std::to_string(offsets.list().size()) + " numbers",
                    "two are needed: begin and end");
  const auto places = offsets.items();
  return {name, type_in(value["dtype"]),
          base::mapped(shape.items(), [](const auto& size) { return size.template whole<std::int64_t>(0); }),
          places[0].whole<std::uint64_t>(), places[1].whole<std::uint64_t>()};
}

std::vector<Entry> entries_in(std::string_view text, const std::string& file) {
  const base::JsonDocument header{file, base::parse_json(text, file + " header", {max_header_depth, max_header_bytes})};
  std::vector<Entry> found;
  for (const auto& [name, value] : header.value().members()) {
    if (name == "__metadata__") {
      for (const auto& [key, told] : value.members()) {
        told.text();
      }
    } else {
      found.push_back(entry_in(name, value));
    }
  }
  return found;
}

std::uint64_t expected_bytes(const Entry& entry, const std::string& file) {
  std::uint64_t bytes = c10::elementSize(entry.type);
  for (const auto size : entry.shape) {
    refuse_if(__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes), file,
              "tensor " + json_quote(entry.name) + ": the shape overflows", "its bytes do not fit 64 bits");
  }
  return bytes;
}

// Sorted by place, the tensors must tile the data exactly.
void check_tiling(std::vector<Entry>& entries, std::uint64_t data_bytes, const std::string& file) {
  std::sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
    return std::tie(left.begin, left.end, left.name) < std::tie(right.begin, right.end, right.name);
  });
  std::uint64_t reached = 0;
  for (const auto& entry : entries) {
    const auto whose = "tensor " + json_quote(entry.name);
    refuse_if(entry.end < entry.begin || entry.end > data_bytes, file,
              whose + ": data_offsets " + std::to_string(entry.begin) + " to " + std::to_string(entry.end),
              "the file has " + std::to_string(data_bytes) + " bytes of data; is it cut short?");
    refuse_if(entry.begin != reached, file,
              whose + " begins at " + std::to_string(entry.begin) + " of the data, the one before it ends at " +
                  std::to_string(reached),
              "tensors may neither overlap nor leave holes");
    refuse_if(entry.end - entry.begin != expected_bytes(entry, file), file,
              whose + " takes " + std::to_string(entry.end - entry.begin) + " bytes",
              "dtype and shape ask for " + std::to_string(expected_bytes(entry, file)));
    reached = entry.end;
  }
  refuse_if(reached != data_bytes, file, std::to_string(data_bytes - reached) + " bytes after the last tensor",
            "they belong to no tensor");
}

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
  const base::JsonDocument index{place, base::parse_json(content.text(), place, {max_index_depth})};
  std::map<std::string, std::string> shard_of;
  for (const auto& [tensor, shard] : index["weight_map"].members()) {
    shard.refuse_if(!is_plain_shard_name(shard.text()), json_quote(shard.text()),
                    "a shard is a plain file name in the same directory that ends with .safetensors");
    shard_of.emplace(tensor, shard.text());
  }
  refuse_if(shard_of.empty(), place, "weight_map is empty", "a checkpoint has tensors");
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
    base::refuse(files.directory() + "/" + pickle + " is not read", "a pickle file runs code of whoever wrote it",
                 "convert to safetensors: model.save_pretrained(..., safe_serialization=True)");
  }
  const auto fetch = base::download_suggestion(files.directory());
  base::refuse(files.directory() + " holds neither " + single_file + " nor " + index_file,
               "weights are read from safetensors only", fetch.empty() ? "convert to safetensors" : fetch);
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
    base::refuse(place + ": it names " + base::counted(missing.size(), "shard") + " that " +
                     (missing.size() == 1 ? "is" : "are") + " not in the directory: " + base::join(missing, ", "),
                 std::to_string(shards.size() - missing.size()) + " of " + std::to_string(shards.size()) + " are there",
                 "Fetch the checkpoint again.");
  }
  StoredTensors all;
  for (const auto& shard : shards) {
    for (auto& [tensor, stored] : parse_safetensors(files.at(shard), files.directory() + "/" + shard)) {
      const auto listed = shard_of.find(tensor);
      if (const auto other = all.find(tensor); other != all.end()) {
        refuse(stored.file, "tensor " + json_quote(tensor) + " is also in " + other->second.file,
               "one of them would be ignored");
      }
      refuse_if(listed == shard_of.end() || listed->second != shard, stored.file,
                "tensor " + json_quote(tensor) + " is not listed for this shard",
                std::string(index_file) + " must list every tensor");
      all.emplace(tensor, std::move(stored));
    }
  }
  for (const auto& [tensor, shard] : shard_of) {
    if (!all.contains(tensor)) {
      StoredTensor& none = all[tensor];
      none.file = files.directory() + "/" + shard;
      none.absent = true;
    }
  }
  return all;
}

StoredTensors read_weight_files(const base::FileSet& files) {
  for (const auto& [name, content] : files.files()) {
    if (name.ends_with(".gguf")) {
      return read_gguf_tensors(content, files.directory());
    }
  }
  if (const auto* single = files.find(single_file); single != nullptr) {
    return parse_safetensors(*single, files.directory() + "/" + single_file);
  }
  if (const auto* index = files.find(index_file); index != nullptr) {
    return read_shards(files, *index);
  }
  no_weights(files);
}

}  // namespace

bool is_floating(at::ScalarType type) {
  return type == at::kHalf || type == at::kBFloat16 || type == at::kFloat || type == at::kDouble;
}

const char* name_of(at::ScalarType type) {
  return std::ranges::find(type_names, type, &std::pair<at::ScalarType, const char*>::first)->second;
}

std::int64_t StoredTensor::count() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

void read_numbers(const StoredTensor& stored, std::int64_t first, const at::Tensor& out) {
  if (stored.source) {
    stored.source->read(first, {out.mutable_data_ptr<float>(), static_cast<std::size_t>(out.numel())});
  } else {
    const auto offset = stored.offset + static_cast<std::uint64_t>(first) * out.element_size();
    stored.content.read(offset, {static_cast<std::byte*>(out.mutable_data_ptr()), out.nbytes()});
  }
}

void read_numbers(const StoredTensor& stored, std::int64_t first, std::span<float> out) {
  const auto numbers = at::from_blob(out.data(), {std::ssize(out)}, at::kFloat);
  const auto raw = stored.type == at::kFloat ? numbers : at::empty_like(numbers, stored.type);
  read_numbers(stored, first, raw);
  numbers.copy_(raw);
}

at::Tensor read_tensor(const StoredTensor& stored) {
  auto tensor = at::empty(stored.shape, at::TensorOptions(stored.type));
  read_numbers(stored, 0, tensor);
  return tensor;
}

StoredTensors parse_safetensors(const base::SharedBytes& content, const std::string& name) {
  const auto part = [&](std::uint64_t offset, std::uint64_t size) {
    std::string text(size, '\0');
    content.read(offset, std::as_writable_bytes(std::span(text)));
    return text;
  };
  constexpr std::string_view pointer = "version https://git-lfs";
  refuse_if(content.size() >= pointer.size() && part(0, pointer.size()) == pointer, name,
            "a Git LFS pointer stands in place of the file",
            "the repository was cloned without its large files; 'git lfs pull' there fetches them");
  std::uint64_t header_bytes = 0;
  refuse_if(content.size() < sizeof(header_bytes), name,
            std::to_string(content.size()) + " bytes are no safetensors file", "it begins with a length of 8 bytes");
  content.read(0, std::as_writable_bytes(std::span(&header_bytes, 1)));
  refuse_if(header_bytes > max_header_bytes || header_bytes > content.size() - sizeof(header_bytes), name,
            "a header of " + std::to_string(header_bytes) + " bytes is announced",
            "the file has " + std::to_string(content.size()) + " bytes, and a header at most " +
                std::to_string(max_header_bytes) + "; is it no safetensors file, or cut short?");
  const auto text = part(sizeof(header_bytes), header_bytes);
  refuse_if(!text.starts_with('{'), name, "the header does not begin with '{'", "is it no safetensors file?");
  const auto data = sizeof(header_bytes) + header_bytes;
  auto entries = entries_in(text, name);
  check_tiling(entries, content.size() - data, name);
  StoredTensors tensors;
  for (auto& entry : entries) {
    tensors.emplace(entry.name, StoredTensor{entry.type, std::move(entry.shape), content, data + entry.begin,
                                             entry.end - entry.begin, name, false});
  }
  return tensors;
}

// A checkpoint's tensors from one file or from the shards that its index lists.

bool has_weights(const base::FileSet& files) {
  const auto is_weights = [](const auto& row) {
    return (base::is_weight_file(row.first) && !row.first.starts_with(base::adapter_folder)) || row.first == index_file;
  };
  return std::ranges::any_of(files.files(), is_weights) || !find_pickle(files).empty();
}

StoredTensors read_stored_tensors(const base::FileSet& files) {
  auto tensors = read_weight_files(files);
  decode_quantized(files, tensors);
  apply_adapter(files, tensors);
  return tensors;
}

}  // namespace stereosweep::model
