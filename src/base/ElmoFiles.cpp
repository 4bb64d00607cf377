#include "base/ElmoFiles.hpp"

#include <string_view>
#include <vector>

#include "base/Error.hpp"
#include "base/Text.hpp"

namespace stereosweep::base {
namespace {

// NAME or *_NAME
std::vector<std::string> find_names(const FileSet& files, std::string_view name) {
  std::vector<std::string> found;
  for (const auto& [file, content] : files.files()) {
    if (file == name || file.ends_with("_" + std::string(name))) {
      found.push_back(file);
    }
  }
  return found;
}

std::string find_one(const FileSet& files, const std::string& name) {
  const auto found = find_names(files, name);
  if (found.empty()) {
    throw InputError(describe(files.directory() + " has no " + name + " and no *_" + name, "ELMo needs one of them"));
  }
  if (found.size() > 1) {
    throw InputError(describe(files.directory() + " has " + join(found, " and "), "which is the model's is not known",
                              "leave one of them in the directory"));
  }
  return found.front();
}

}  // namespace

bool is_elmo(const FileSet& files) {
  return files.find("config.json") == nullptr && !find_names(files, "options.json").empty();
}

std::string find_elmo_options(const FileSet& files) { return find_one(files, "options.json"); }

std::string find_elmo_weights(const FileSet& files) { return find_one(files, "weights.hdf5"); }

}  // namespace stereosweep::base
