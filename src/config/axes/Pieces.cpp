#include "config/axes/Pieces.hpp"

#include <cstdlib>
#include <set>

#include "base/files/File.hpp"
#include "config/yaml/Fields.hpp"
#include "config/yaml/Yaml.hpp"

namespace stereosweep::config {
namespace {

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.size() <= 100 &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
             std::string::npos;
}

}  // namespace

Pieces::Pieces(std::filesystem::path job_directory, Access access)
    : job_directory_(std::move(job_directory)), access_(access) {
  roots_.push_back(job_directory_ / ".." / "configs");
  if (const char* named = std::getenv("STEREOSWEEP_CONFIGS"); named != nullptr && *named != '\0') {
    roots_.emplace_back(named);
  }
  roots_.emplace_back("configs");
}

const Node* Pieces::find(const std::string& kind, const std::string& name, const Node& user, const std::string& key,
                         base::Problems& problems) {
  if (inline_only()) {
    problems.add(user.place(key), "the name '" + name.substr(0, 60) + "' stands where a list is needed",
                 "a resolved job names no other files");
    return nullptr;
  }
  if (!is_plain_name(name)) {
    problems.add(user.place(key), "'" + name.substr(0, 60) + "' is no name of a piece",
                 "letters, digits, '_' and '-' only: no folders, no endings",
                 "Pieces are configs/" + kind + "/NAME.yaml; tables are given as {tsv: PATH}.");
    return nullptr;
  }
  std::string searched;
  for (const auto& root : roots_) {
    const auto path = (root / kind / (name + ".yaml")).lexically_normal();
    std::error_code error;
    if (std::filesystem::exists(path, error)) {
      return find_file(path, user, key, problems);
    }
    if (searched.find(path.string()) == std::string::npos) {  // two roots may be one folder
      searched += (searched.empty() ? "" : ", ") + path.string();
    }
  }
  const auto known = names(kind);
  const auto nearest = suggest(name, known, problems);
  problems.add(user.place(key), "no piece '" + name + "' of the kind " + kind, "looked for " + searched,
               known.empty()     ? "STEREOSWEEP_CONFIGS names the folder of the pieces, where the job lies elsewhere."
               : nearest.empty() ? "A list of your own stands in brackets: [" + name + "]."
                                 : nearest);
  return nullptr;
}

const Node* Pieces::find_file(const std::filesystem::path& path, const Node& user, const std::string& key,
                              base::Problems& problems) {
  if (const auto known = parsed_.find(path.string()); known != parsed_.end()) {
    return &known->second;
  }
  try {
    const std::string text = base::read_file(path, YamlLimits().max_bytes);
    return &parsed_.emplace(path.string(), parse_yaml(text, path.string(), problems)).first->second;
  } catch (const base::InputError& fault) {
    problems.add(user.place(key), "the piece cannot be read", fault.what());
    return nullptr;
  }
}

std::vector<std::string> Pieces::names(const std::string& kind) const {
  std::set<std::string> names;
  for (const auto& root : roots_) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(root / kind, error)) {
      if (entry.path().extension() == ".yaml" && names.size() < 1000) {
        names.insert(entry.path().stem().string());
      }
    }
  }
  return {names.begin(), names.end()};
}

std::string Pieces::resolve_path(const std::string& path) const {
  std::error_code error;
  const std::filesystem::path given(path);
  if (inline_only() || given.is_absolute() || std::filesystem::exists(given, error)) {
    return path;
  }
  const auto beside = (job_directory_ / given).lexically_normal();
  return std::filesystem::exists(beside, error) ? beside.string() : path;
}

}  // namespace stereosweep::config
