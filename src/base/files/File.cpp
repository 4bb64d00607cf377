#include "base/files/File.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/HubCache.hpp"
#include "base/files/Listing.hpp"
#include "base/files/gguf/Gguf.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::base {

namespace {

constexpr std::size_t max_small_file = std::size_t{256} << 20;
constexpr std::array<std::string_view, 6> checkpoint_extensions = {".json",  ".txt",         ".jinja",
                                                                   ".model", ".safetensors", ".hdf5"};

void release_pages(std::span<const std::byte> part) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(part.data());
  const auto first = (start + page - 1) / page * page;
  const auto end = (start + part.size()) / page * page;
  if (first < end) {
    ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);  // refused: they stay, which harms nothing
  }
}

/// Pages are given back behind the reader, so that a checkpoint and what is made of it are not both resident.
template <class Use>
void read_pieces(std::span<const std::byte> bytes, SharedBytes::Backing backing, const Use& use) {
  constexpr std::size_t piece = std::size_t{16} << 20;
  for (std::size_t done = 0; done < bytes.size(); done += piece) {
    const auto part = bytes.subspan(done, std::min(piece, bytes.size() - done));
    use(part);
    if (backing == SharedBytes::Backing::mapping) {
      release_pages(part);
    }
  }
}

/// What a directory without config.json is, and what to do about it.
[[noreturn]] void refuse_without_config(const FileSet& files) {
  const auto& directory = files.directory();
  refuse_if(files.find("adapter_config.json") != nullptr, directory + " holds an adapter, no model",
            "it has adapter_config.json and no config.json",
            "Name the model that it was made for as model.path, and this folder as model.adapter.");
  refuse(directory + "/config.json is missing", "the model directory needs it", download_suggestion(directory));
}

/// The two files of an adapter that count: a folder may also hold its model's tokenizer, or states of a training.
void add_adapter_files(const std::filesystem::path& directory, std::map<std::string, std::uint64_t>& names) {
  for (const std::string name : {"adapter_config.json", "adapter_model.safetensors"}) {
    const auto path = directory / name;
    if (!is_file(path)) {
      const bool has_pickle = is_there(directory / "adapter_model.bin");
      refuse(path.string() + " is missing",
             has_pickle ? "adapter_model.bin is a pickle file, which runs code of whoever wrote it"
                        : "model.adapter names a folder with an adapter as PEFT saves it",
             has_pickle ? "Convert it: stereosweep_analysis convert " + directory.string() : "");
    }
    names[std::string(adapter_folder) + name] = std::filesystem::file_size(path);
  }
}

std::map<std::string, std::uint64_t> list_model_files(const std::filesystem::path& directory) {
  std::error_code status;
  const bool is_folder = std::filesystem::is_directory(directory, status);
  refuse_if(!is_folder, "cannot read the model directory " + directory.string(),
            status ? status.message() : "it is no directory",
            directory.is_relative() ? "A relative path counts from the folder in which the command is given." : "");
  std::map<std::string, std::uint64_t> names;
  for (const auto& path : entries_of(directory, status)) {
    if (base::contains(checkpoint_extensions, path.extension().string()) && is_file(path)) {
      names[path.filename().string()] = std::filesystem::file_size(path);
    }
  }
  refuse_if(static_cast<bool>(status), "cannot read the model directory " + directory.string(), status.message());
  return names;
}

// NAME or *_NAME
std::vector<std::string> find_names(const FileSet& files, std::string_view name) {
  return filtered(std::views::keys(files.files()),
                  [&](const std::string& file) { return file == name || file.ends_with("_" + std::string(name)); });
}

std::string find_one(const FileSet& files, const std::string& name) {
  const auto found = find_names(files, name);
  refuse_if(found.empty(), files.directory() + " has no " + name + " and no *_" + name, "ELMo needs one of them");
  refuse_if(found.size() > 1, files.directory() + " has " + join(found, " and "), "which is the model's is not known",
            "leave one of them in the directory");
  return found.front();
}

}  // namespace

std::span<const std::byte> SharedBytes::bytes() const {
  STEREOSWEEP_ASSERT(!file_, "a file's bytes are not in memory");
  return bytes_;
}

void SharedBytes::read(std::uint64_t offset, std::span<std::byte> out) const {
  STEREOSWEEP_ASSERT(offset <= size_ && out.size() <= size_ - offset, "reading behind the end");
  if (!file_) {
    read_pieces(bytes_.subspan(offset, out.size()), backing_, [&](std::span<const std::byte> part) {
      std::memcpy(out.data(), part.data(), part.size());
      out = out.subspan(part.size());
    });
    return;
  }
  while (!out.empty()) {
    const auto got = ::pread(*file_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      fail("cannot read " + name_, std::strerror(errno));
    }
    if (got == 0) {
      refuse("cannot read " + name_, "it became shorter while it was read", "Is it still being copied or downloaded?");
    }
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void SharedBytes::read_through(const std::function<void(std::span<const std::byte>)>& use) const {
  if (!file_) {
    read_pieces(bytes_, backing_, use);
    return;
  }
  constexpr std::uint64_t piece = std::uint64_t{1} << 18;  // stays in the processor's cache until it is used
  std::vector<std::byte> window(std::min(piece, size_));
  for (std::uint64_t done = 0; done < size_; done += piece) {
    const auto part = std::span(window).first(std::min(piece, size_ - done));
    read(done, part);
    use(part);
  }
}

SharedBytes SharedBytes::mapped() const {
  if (!file_ || size_ == 0) {
    return file_ ? to_shared("") : *this;
  }
  void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, *file_, 0);
  fail_if(memory == MAP_FAILED, "cannot map " + name_, std::strerror(errno));
  std::shared_ptr<const void> owner(memory, [size = size_](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return {owner, {static_cast<const std::byte*>(memory), size_}, Backing::mapping};
}

std::shared_ptr<const int> open_descriptor(const std::filesystem::path& path, int flags, mode_t mode) {
  return {new int(::open(path.c_str(), flags | O_CLOEXEC, mode)), [](const int* descriptor) {
            if (*descriptor >= 0) {  // else `errno` would be another one
              ::close(*descriptor);
            }
            delete descriptor;
          }};
}

SharedBytes open_file(const std::filesystem::path& path) {
  const auto file = open_descriptor(path, O_RDONLY | O_NONBLOCK);  // a FIFO must not block us
  refuse_if(*file < 0, "cannot open " + path.string(), std::strerror(errno));
  struct stat info {};
  if (::fstat(*file, &info) != 0) {
    fail("cannot stat " + path.string(), std::strerror(errno));
  }
  refuse_if(!S_ISREG(info.st_mode), "cannot read " + path.string(), "it is no regular file");
  return {file, static_cast<std::uint64_t>(info.st_size), path.string()};
}

std::string read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const auto file = open_file(path);
  refuse_if(file.size() > max_bytes, path.string() + " has " + std::to_string(file.size()) + " bytes",
            "at most " + std::to_string(max_bytes) + " are read");
  std::string content(file.size(), '\0');
  file.read(0, std::as_writable_bytes(std::span(content)));
  return content;
}

SharedBytes to_shared(std::string content) {
  auto owner = std::make_shared<const std::string>(std::move(content));
  return {owner, std::as_bytes(std::span(owner->data(), owner->size())), SharedBytes::Backing::memory};
}

const SharedBytes* FileSet::find(const std::string& name) const {
  const auto it = files_.find(name);
  if (it == files_.end()) {
    return nullptr;
  }
  const auto is_pointer = !is_weight_file(name) && it->second.text().starts_with("version https://git-lfs");
  refuse_if(is_pointer, directory_ + "/" + name + ": a Git LFS pointer stands in place of the file",
            "the repository was cloned without its large files", "'git lfs pull' there fetches them.");
  return &it->second;
}

const SharedBytes& FileSet::at(const std::string& name) const {
  const auto* file = find(name);
  if (file == nullptr && name == "config.json") {
    refuse_without_config(*this);
  }
  if (file == nullptr) {
    refuse(directory_ + "/" + name + " is missing", "the model directory needs it", download_suggestion(directory_));
  }
  return *file;
}

bool is_weight_file(std::string_view name) {
  return name.ends_with(".safetensors") || name.ends_with(".hdf5") || name.ends_with(".gguf");
}

std::filesystem::path CheckpointPlace::path_of(const std::string& name) const {
  return name.starts_with(adapter_folder) ? adapter / name.substr(adapter_folder.size())
         : is_gguf(model)                 ? model
                                          : model / name;
}

std::map<std::string, std::uint64_t> list_checkpoint_files(const CheckpointPlace& place) {
  auto names =
      place.model.empty() ? std::map<std::string, std::uint64_t>()
      : is_gguf(place.model)
          ? std::map<std::string, std::uint64_t>{{place.model.filename().string(), open_file(place.model).size()}}
          : list_model_files(place.model);
  if (!place.adapter.empty()) {
    add_adapter_files(place.adapter, names);
  }
  return names;
}

FileSet read_checkpoint_files(const CheckpointPlace& place, CheckpointPart part) {
  FileSet files(place.model.string());
  if (is_gguf(place.model)) {
    const auto content = open_file(place.model);
    for (auto& [name, text] : make_small_files(read_gguf(content, place.model.string()), content)) {
      files.add(name, to_shared(std::move(text)));
    }
  }
  for (const auto& [name, size] : list_checkpoint_files(place)) {
    const auto path = place.path_of(name);
    if (!is_weight_file(name)) {
      files.add(name, to_shared(read_file(path, max_small_file)));
    } else if (part == CheckpointPart::all_files) {
      files.add(name, open_file(path));
    }
  }
  return files;
}

bool is_elmo(const FileSet& files) {
  return files.find("config.json") == nullptr && !find_names(files, "options.json").empty();
}

std::string find_elmo_options(const FileSet& files) { return find_one(files, "options.json"); }

std::string find_elmo_weights(const FileSet& files) { return find_one(files, "weights.hdf5"); }

}  // namespace stereosweep::base
