// Files: reading with limits, writing so that a reader sees the old content or the new one, never a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stereosweep::base {

/// The whole file. Throws InputError if it is missing, no regular file or larger than `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = std::size_t{1} << 30);

/// `path.partial.PROCESS@HOST`: what this process writes before it becomes `path`.
std::filesystem::path partial_path(const std::filesystem::path& path);

/// Removes what processes that are gone left under such names in a directory; on another host: what is a day old.
void remove_stale_partials(const std::filesystem::path& directory);

/// Writes a temporary sibling, fsyncs it, renames it over `path`, fsyncs the directory. Throws Error (with errno's
/// text).
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Read-only bytes with whoever keeps them alive (a mapping, shared memory, a string).
struct SharedBytes {
  /// A mapping's pages can be given back and come again when they are read; other memory cannot.
  enum class Backing { memory, mapping };
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
  Backing backing = Backing::memory;
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

SharedBytes to_shared(std::string content);
/// The file's bytes, mapped read-only. Throws InputError if it is missing or no regular file.
SharedBytes map_file(const std::filesystem::path& path);

/// Takes the whole pages inside `part`, of bytes with this backing, out of the process's resident memory. Their content
/// stays: reading them fetches them again. Nothing happens to plain memory.
void release_pages(std::span<const std::byte> part, SharedBytes::Backing backing);

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

/// Whether a file of a checkpoint holds weights (*.safetensors, *.hdf5): mapped or shared, never copied whole.
bool is_weight_file(std::string_view name);
/// Names of the regular files of a directory that a checkpoint may need: *.json, *.txt, *.jinja, *.model and weights.
/// Throws InputError if it is no directory. Symbolic links to regular files are followed.
std::map<std::string, std::uint64_t> list_checkpoint_files(const std::filesystem::path& directory);
/// Reads the small files (all but the weights); `all_files` also maps the weight files into memory (read-only).
enum class CheckpointPart { small_files, all_files };
FileSet read_checkpoint_files(const std::filesystem::path& directory, CheckpointPart part);

}  // namespace stereosweep::base
