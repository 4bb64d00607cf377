// Finds what an axis names: a file under configs/, a table of a published data set, or the list itself.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/language/LanguageTable.hpp"
#include "config/yaml/Node.hpp"

namespace stereosweep::config {

/// Where relative names of one job are looked up; parsed pieces are kept, so that a sweep reads each file once.
class Pieces {
 public:
  enum class Access { files, inline_only };

  /// For the job file's directory. `inline_only`: every name is refused (a resolved job has no pieces).
  Pieces(std::filesystem::path job_directory, Access access);

  /// The piece `configs/<kind>/<name>.yaml`: first beside the job file (../configs), then in the directory that the
  /// environment names (STEREOSWEEP_CONFIGS), then in ./configs. Faults are reported at `user`, the node that names it.
  const Node* find(const std::string& kind, const std::string& name, const Node& user, const std::string& key,
                   base::Problems& problems);
  /// A file of the user's own that has the form of a piece.
  const Node* find_file(const std::filesystem::path& path, const Node& user, const std::string& key,
                        base::Problems& problems);
  /// Names of all pieces of a kind, in alphabetical order, wherever `find` would look.
  std::vector<std::string> names(const std::string& kind) const;
  /// A path of the user's own (table, model): as it stands, relative to the working directory if something is there,
  /// else to the job file if something is there, else unchanged.
  std::string resolve_path(const std::string& path) const;
  bool inline_only() const { return access_ == Access::inline_only; }
  /// Of the job that is being read.
  const LanguageTable& language() const { return language_; }
  void set_language(LanguageTable language) { language_ = std::move(language); }

 private:
  std::filesystem::path job_directory_;
  Access access_;
  std::vector<std::filesystem::path> roots_;
  std::map<std::string, Node> parsed_;
  LanguageTable language_;
};

}  // namespace stereosweep::config
