// The one way to write a file: it appears under its name only when it is whole, so that readers see the old content or
// the new one; and why one could not be written, in words that lead to a remedy.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace stereosweep::base {

/// Owns `target.partial.RANDOM.BOOT`, made anew, never through a link, and locked while this object lives; removed by
/// the destructor unless committed. Removes those of writers that are gone from the directory: this machine's writers
/// hold a lock; of others only the age is known, and what is a day old goes.
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
  int handle() const { return *handle_; }
  /// Appends. Throws Error.
  void write(std::string_view content);
  /// Fsyncs the file, renames it over the target and fsyncs the directory. Throws Error.
  void commit();
  /// Renames it over the target without waiting for the disk: readers see it at once. Throws Error.
  void show();
  /// Fsyncs what was shown. Throws Error.
  void sync();

 private:
  void sync_content();
  std::filesystem::path target_;
  std::filesystem::path path_;
  std::shared_ptr<const int> handle_;
};

/// Replaces `path` by a PendingFile with this content. Throws Error with the system's cause.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// The name that such a file gets once it is complete; other names as they are.
std::string final_name(const std::string& name);

/// Makes a rename or a new name in a directory durable. File systems that cannot (EINVAL) are tolerated. Throws Error.
void sync_directory(const std::filesystem::path& directory);

/// The parts of a message that follow "cannot write FILE".
struct WriteFailure {
  std::string why;
  std::string advice;  ///< empty where nothing better is known than the reason itself
};

/// `error` is an errno. Says whether a full file system lacks space or inodes: only `df -i` shows the latter.
WriteFailure explain_write_failure(const std::filesystem::path& path, int error);

/// The same for the text of a library's error report in which the system's reason stands.
WriteFailure explain_write_failure(const std::filesystem::path& path, std::string_view report);

/// Throws Error "cannot ACTION PATH (...)", with what explains `error`, an errno.
[[noreturn]] void fail_to(std::string_view action, const std::filesystem::path& path, int error);

}  // namespace stereosweep::base
