#include "base/files/HubCache.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <tuple>

#include "base/Error.hpp"
#include "base/files/Listing.hpp"
#include "base/process/Environment.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::base {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view folder_start = "models--";
constexpr std::size_t commit_digits = 40;
constexpr std::size_t max_name = 96;  // as huggingface_hub
constexpr std::size_t max_revision = 200;

std::string folder_of(std::string_view name) {
  return std::string(folder_start) + replace_all(std::string(name), "/", "--");
}

fs::path from_home(const std::string& text) {
  const auto home = text_from_environment("HOME");
  return text == "~" || text.starts_with("~/") ? fs::path(home + text.substr(1)) : fs::path(text);
}

/// The commit in a file of refs; "" where it holds none.
std::string commit_in(const fs::path& file) {
  if (!is_file(file)) {
    return "";
  }
  try {
    const auto text = read_file(file, 1000);
    const auto commit = trim(text);
    return is_commit(commit) ? std::string(commit) : "";
  } catch (const Error&) {
    return "";
  }
}

/// Branches and tags of a model's folder by the commit that they stand at; their names may hold '/'.
std::map<std::string, std::vector<std::string>> refs_of(const fs::path& folder) {
  std::map<std::string, std::vector<std::string>> refs;
  std::error_code error;
  for (const auto& path : tree_of(folder / "refs", error)) {
    if (const auto commit = commit_in(path); !commit.empty()) {
      refs[commit].push_back(path.lexically_relative(folder / "refs").generic_string());
    }
  }
  for (auto& [commit, names] : refs) {
    std::ranges::sort(names);
  }
  return refs;
}

void add_snapshots(const fs::path& folder, const std::string& name, std::vector<HubSnapshot>& found) {
  const auto refs = refs_of(folder);
  std::error_code error;
  for (const auto& path : entries_of(folder / "snapshots", error)) {
    const auto commit = path.filename().string();
    if (is_commit(commit) && is_folder(path)) {
      const auto known = refs.find(commit);
      found.push_back({name, commit, known == refs.end() ? std::vector<std::string>() : known->second, path});
    }
  }
}

/// "ORG/NAME" of "models--ORG--NAME"; "" for other folders.
std::string name_of_folder(std::string_view folder) {
  if (!folder.starts_with(folder_start)) {
    return "";
  }
  const auto parsed = parse_hub_name(replace_all(std::string(folder.substr(folder_start.size())), "--", "/"));
  return parsed && folder_of(parsed->name) == folder ? parsed->name : "";
}

/// "Did you mean 'google-bert/bert-base-uncased'?" for "bert-base-uncased"; "" where nothing is near.
std::string nearest_in_cache(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& snapshot : list_hub_cache(hub_cache())) {
    if (snapshot.name.ends_with("/" + name)) {
      return "Did you mean '" + snapshot.name + "'?";
    }
    names.push_back(snapshot.name);
  }
  const auto meant = did_you_mean(name, names);
  return meant.empty() ? "" : "D" + meant.substr(1);
}

/// The directory, or its one GGUF file where it has no config.json.
fs::path with_gguf(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> found;
  if (!is_there(directory / "config.json")) {
    found = entries_of(directory, error);
    std::erase_if(found, [](const fs::path& path) { return !is_gguf(path); });
  }
  refuse_if(found.size() > 1,
            directory.string() + " holds " + counted(found.size(), "GGUF file") + " and no config.json",
            "which of them is meant is not said", "Name the file itself.");
  return found.empty() ? directory : found.front();
}

}  // namespace

bool is_commit(std::string_view text) {
  return text.size() == commit_digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<HubName> parse_hub_name(std::string_view text) {
  // Parts of a name begin and end with a letter, a digit or '_'; those of a revision do not begin with '.'.
  static const std::regex name(R"((?!.*(\.\.|--))\w([\w.-]*\w)?(/\w([\w.-]*\w)?)?)");
  static const std::regex revision(R"((?!.*\.\.)[\w-][\w.-]*(/[\w-][\w.-]*)*)");
  HubName wanted;
  const auto at = text.find('@');
  wanted.name = text.substr(0, at);
  if (at != std::string_view::npos) {
    wanted.revision = text.substr(at + 1);
  }
  const bool fits = wanted.name.size() <= max_name && std::regex_match(wanted.name, name) &&
                    wanted.revision.size() <= max_revision && std::regex_match(wanted.revision, revision);
  return fits ? std::optional(std::move(wanted)) : std::nullopt;
}

fs::path hub_cache() {
  for (const auto* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const auto cache = text_from_environment(name); !cache.empty()) {
      return from_home(cache);
    }
  }
  if (const auto home = text_from_environment("HF_HOME"); !home.empty()) {
    return from_home(home) / "hub";
  }
  const auto caches = text_from_environment("XDG_CACHE_HOME");
  return from_home(caches.empty() ? "~/.cache" : caches) / "huggingface" / "hub";
}

std::vector<HubSnapshot> list_hub_cache(const fs::path& cache) {
  std::vector<HubSnapshot> found;
  std::error_code error;
  for (const auto& path : entries_of(cache, error)) {
    if (const auto name = name_of_folder(path.filename().string()); !name.empty()) {
      add_snapshots(path, name, found);
    }
  }
  std::ranges::sort(found, {}, [](const HubSnapshot& one) { return std::tie(one.name, one.commit); });
  return found;
}

std::optional<HubSnapshot> find_in_hub_cache(const HubName& wanted) {
  const auto folder = hub_cache() / folder_of(wanted.name);
  const auto commit = is_commit(wanted.revision) ? wanted.revision : commit_in(folder / "refs" / wanted.revision);
  const auto directory = folder / "snapshots" / commit;
  if (commit.empty() || !is_folder(directory)) {
    return std::nullopt;
  }
  return HubSnapshot{wanted.name, commit, {}, directory};
}

std::string download_command(const HubName& wanted) {
  return "hf download " + wanted.name + (wanted.revision == "main" ? "" : " --revision " + wanted.revision) +
         R"( --include "*.json" --include "*.safetensors" --include "*.txt" --include "*.model" --include "*.jinja")";
}

std::string download_suggestion(const fs::path& directory) {
  const auto plain = directory.lexically_normal();
  const auto commit = plain.filename().string();
  const auto name = name_of_folder(plain.parent_path().parent_path().filename().string());
  if (name.empty() || !is_commit(commit) || plain.parent_path().filename() != "snapshots") {
    return "";
  }
  return "Fetch what is missing: " + download_command({name, commit});
}

bool is_gguf(const fs::path& path) { return path.extension() == ".gguf" && !is_folder(path); }

bool is_url(const std::string& model) { return model.find("://") != std::string::npos; }

fs::path checkpoint_directory(const std::string& model) {
  refuse_if(is_url(model), "'" + model + "' is a URL", "nothing is fetched from the network",
            "Name a folder, a GGUF file, or a model of the Hugging Face cache: ORG/NAME.");
  const auto wanted = parse_hub_name(model);
  if (!wanted || is_gguf(model) || is_folder(model)) {
    return with_gguf(model);
  }
  if (const auto found = find_in_hub_cache(*wanted)) {
    return with_gguf(found->directory);
  }
  const auto nearest = nearest_in_cache(wanted->name);
  refuse("there is no model '" + model + "'",
         "no directory has this path, and the Hugging Face cache " + hub_cache().string() + " does not hold it",
         nearest + (nearest.empty() ? "" : " ") + "Fetch it: " + download_command(*wanted));
}

CheckpointPlace checkpoint_place(const std::string& model, const std::string& adapter) {
  return {checkpoint_directory(model), adapter.empty() ? fs::path() : checkpoint_directory(adapter)};
}

}  // namespace stereosweep::base
