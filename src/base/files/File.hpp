// Files read with limits, and the files of a checkpoint. (Writing: PendingFile.hpp.)
#pragma once

#include <sys/types.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/files/PendingFile.hpp"

namespace stereosweep::base {

/// A descriptor as open(2) gives it, closed on `exec` and with its last owner; -1: errno says why there is none.
std::shared_ptr<const int> open_descriptor(const std::filesystem::path& path, int flags, mode_t mode = 0);

/// The whole file. Throws InputError if it is missing, no regular file or larger than `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = std::size_t{1} << 30);

/// Read-only bytes: in memory, with whoever keeps them alive, or in an open file that is read piece by piece. Weights
/// are not mapped: reading a mapped file that was cut short meanwhile ends the process (SIGBUS).
class SharedBytes {
 public:
  /// A mapping's pages can be given back and come again when they are read; other memory cannot.
  enum class Backing { memory, mapping };
  SharedBytes() = default;
  SharedBytes(std::shared_ptr<const void> owner, std::span<const std::byte> bytes, Backing backing)
      : owner_(std::move(owner)), bytes_(bytes), size_(bytes.size()), backing_(backing) {}
  /// `file`: a descriptor that is open for reading; `name` stands in messages.
  SharedBytes(std::shared_ptr<const int> file, std::uint64_t size, std::string name)
      : size_(size), file_(std::move(file)), name_(std::move(name)) {}

  std::uint64_t size() const { return size_; }
  /// Of bytes in memory.
  std::span<const std::byte> bytes() const;
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes().data()), bytes().size()}; }
  /// Copies those from `offset` on; a mapping's pages do not stay resident. Throws InputError where the file has become
  /// too short, Error where it cannot be read.
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  /// Calls `use(part)` for consecutive parts of all bytes, as `read` takes them.
  void read_through(const std::function<void(std::span<const std::byte>)>& use) const;
  /// The same bytes in memory, mapped where they are in a file: for a child process, which SIGBUS may end.
  SharedBytes mapped() const;

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  std::uint64_t size_ = 0;
  Backing backing_ = Backing::memory;
  std::shared_ptr<const int> file_;  ///< null: in memory
  std::string name_;
};

SharedBytes to_shared(std::string content);
/// The file, open. Throws InputError if it is missing or no regular file.
SharedBytes open_file(const std::filesystem::path& path);

/// The files of one checkpoint directory by plain name, wherever their bytes came from (disk, broadcast, node memory).
/// Whoever interprets the files takes a FileSet, so that reading once per node is the business of one room.
class FileSet {
 public:
  explicit FileSet(std::string directory) : directory_(std::move(directory)) {}
  /// Display name of the directory, for messages.
  const std::string& directory() const { return directory_; }
  void add(const std::string& name, SharedBytes content) { files_[name] = std::move(content); }
  const SharedBytes* find(const std::string& name) const;
  /// As `find`, but throws InputError naming directory and file.
  const SharedBytes& at(const std::string& name) const;
  const std::map<std::string, SharedBytes>& files() const { return files_; }

 private:
  std::string directory_;
  std::map<std::string, SharedBytes> files_;
};

/// Where the files of a checkpoint lie.
struct CheckpointPlace {
  template <std::convertible_to<std::filesystem::path> Path>
  CheckpointPlace(const Path& model_path, std::filesystem::path adapter_path = {})  // a path alone is a place
      : model(model_path), adapter(std::move(adapter_path)) {}
  std::filesystem::path model;    ///< a directory, or one GGUF file; empty: of the adapter alone
  std::filesystem::path adapter;  ///< a directory; empty: none
  /// Of a file that `list_checkpoint_files` names; the adapter's files have "adapter/" before their names.
  std::filesystem::path path_of(const std::string& name) const;
};
constexpr std::string_view adapter_folder = "adapter/";

/// Whether a file of a checkpoint holds weights (*.safetensors, *.hdf5, *.gguf): mapped or shared, never read whole.
bool is_weight_file(std::string_view name);
/// Names and sizes of the regular files that a checkpoint may need: *.json, *.txt, *.jinja, *.model and weights of a
/// directory; a GGUF file; of an adapter its settings and weights. Throws InputError for what is neither, and for an
/// adapter that lacks one of them. Symbolic links to regular files are followed.
std::map<std::string, std::uint64_t> list_checkpoint_files(const CheckpointPlace& place);
/// Reads the small files (all but the weights; of a GGUF file those that its metadata stand for, gguf/Gguf.hpp);
/// `all_files` also opens the weight files.
enum class CheckpointPart { small_files, all_files };
FileSet read_checkpoint_files(const CheckpointPlace& place, CheckpointPart part);

/// Whether the directory is an ELMo model: no config.json, and options.json or *_options.json.
bool is_elmo(const FileSet& files);

/// The name of the one options file. Throws InputError where there are several.
std::string find_elmo_options(const FileSet& files);

/// The name of the one weights file (weights.hdf5 or *_weights.hdf5). Throws InputError where there is none or several.
std::string find_elmo_weights(const FileSet& files);

}  // namespace stereosweep::base
