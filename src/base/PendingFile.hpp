// A file that appears under its name only when it is whole: readers see the old content or the new one.
#pragma once

#include <filesystem>
#include <string_view>

namespace stereosweep::base {

/// Owns `target.partial.RANDOM.BOOT`, made anew, never through a link, and locked while this object lives; removed by
/// the destructor unless committed. Removes those of writers that are gone from the directory.
class PendingFile {
 public:
  /// Who may read the file: everybody whom the umask allows, or its owner alone (for what holds a corpus's sentences).
  enum class Readers { usual, owner };
  /// Throws Error with the system's cause.
  explicit PendingFile(std::filesystem::path target, Readers readers = Readers::usual);
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();
  const std::filesystem::path& path() const { return path_; }
  /// Open for reading and writing.
  int handle() const { return handle_; }
  /// Appends. Throws Error.
  void write(std::string_view content);
  /// Fsyncs the file, renames it over the target and fsyncs the directory. Throws Error.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  int handle_ = -1;
};

/// Removes such files whose writer is gone: this machine's writers hold a lock; of others only the age is known, and
/// what is a day old goes.
void remove_stale_partials(const std::filesystem::path& directory);

/// Makes a rename or a new name in a directory durable. File systems that cannot (EINVAL) are tolerated. Throws Error.
void sync_directory(const std::filesystem::path& directory);

}  // namespace stereosweep::base
