// The file coreference.stats.h5; same conventions as an exported result.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/PendingFile.hpp"
#include "hdf5/File.hpp"
#include "probes/coreference/CoreferenceNumbers.hpp"
#include "probes/coreference/CoreferenceStatistics.hpp"
#include "results/Layout.hpp"

namespace stereosweep::probes::coreference {

class CoreferenceFile {
 public:
  /// `source` is borrowed until `finish`.
  CoreferenceFile(const results::ResultFile& source, const CoreferenceOptions& options,
                  const std::filesystem::path& target);
  /// Scores of the contexts of one condition.
  void add(std::size_t condition, const ConditionNumbers& numbers);
  /// Writes the tables, then makes the file appear under its name.
  void finish(const CoreferenceResult& result);

 private:
  void write_attributes(const CoreferenceOptions& options);
  void add_axes();
  /// NAME, NAME_low, NAME_high and NAME_status over `axes`.
  void write_estimates(const std::string& name, const std::string& long_name, const std::vector<std::string>& axes,
                       const std::vector<Estimate>& estimates);
  void write_privilege(const CoreferenceResult& result);

  const results::ResultFile& source_;
  base::PendingFile pending_;
  hdf5::File file_;
  std::unique_ptr<results::Layout> layout_;
  std::vector<hdf5::DataSet> scores_;
};

}  // namespace stereosweep::probes::coreference
