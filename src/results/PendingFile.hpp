// A file that appears under its name only when it is whole: readers see the old content or the new one.
#pragma once

#include <filesystem>

namespace stereosweep::results {

/// Owns base::partial_path(target); removed by the destructor unless committed. Removes those of writers that are gone.
class PendingFile {
 public:
  explicit PendingFile(std::filesystem::path target);
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();
  const std::filesystem::path& path() const { return path_; }
  /// Seals the file (Seal.hpp), renames it over the target and fsyncs the directory; the content must be on disk.
  /// Throws base::Error.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
};

}  // namespace stereosweep::results
