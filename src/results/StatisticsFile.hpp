// The file that `stats` writes for any probe; same conventions as an exported result.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/PendingFile.hpp"
#include "hdf5/File.hpp"
#include "results/Layout.hpp"
#include "results/Reader.hpp"

namespace stereosweep::results {

class StatisticsFile {
 public:
  /// Says what the file is and of which result it was made: conventions, schema "stereosweep-statistics/PROBE",
  /// software, and title, model, hashes, digest and completeness of `source`. Throws base::Error for files.
  StatisticsFile(const ResultFile& source, const std::string& probe, const std::filesystem::path& target);
  hdf5::Group& root() { return file_.root(); }
  Layout& layout() { return *layout_; }
  /// Seals the file and makes it appear under its name. Every variable must be closed.
  void commit();

 private:
  base::PendingFile pending_;
  hdf5::File file_;
  std::unique_ptr<Layout> layout_;
};

}  // namespace stereosweep::results
