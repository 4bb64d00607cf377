// Models by their names on the Hugging Face hub, looked up in this machine's cache. Nothing is ever downloaded.
//   CACHE/models--ORG--NAME/refs/REVISION    text: the commit that a branch or tag stood at
//   CACHE/models--ORG--NAME/snapshots/COMMIT the files, most of them links into CACHE/models--ORG--NAME/blobs
// (source: huggingface_hub, «Understand caching»)
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/File.hpp"

namespace stereosweep::base {

/// "ORG/NAME" or "NAME", and the branch, tag or commit that stood behind '@' ("main" where none did).
struct HubName {
  std::string name;
  std::string revision = "main";
};

/// Nothing where the text cannot be one: absolute, an empty part, "..", other characters than the hub has.
std::optional<HubName> parse_hub_name(std::string_view text);

/// Whether it is a whole commit: 40 hexadecimal digits.
bool is_commit(std::string_view text);

/// One revision of one model in a cache.
struct HubSnapshot {
  std::string name;
  std::string commit;             ///< 40 hexadecimal digits
  std::vector<std::string> refs;  ///< branches and tags that stand at it, sorted
  std::filesystem::path directory;
};

/// As huggingface_hub finds it: HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME/huggingface/hub,
/// ~/.cache/huggingface/hub.
std::filesystem::path hub_cache();

/// All of a cache, by name and commit; none where there is no such directory.
std::vector<HubSnapshot> list_hub_cache(const std::filesystem::path& cache);

/// Nothing where this machine's cache lacks it. `refs` stays empty.
std::optional<HubSnapshot> find_in_hub_cache(const HubName& wanted);

/// The command that fetches what a run reads.
std::string download_command(const HubName& wanted);
/// The same as a suggestion, for a directory of a cache ("" for others).
std::string download_suggestion(const std::filesystem::path& directory);

/// Whether `model` is a URL, which no checkpoint can be.
bool is_url(const std::string& model);
/// Whether the path is that of a GGUF file: a folder may be called so.
bool is_gguf(const std::filesystem::path& path);

/// Where the files of a model lie: `model` itself where it is a directory, a GGUF file or no name of the hub, else the
/// snapshot; of a directory without config.json its one GGUF file. Throws InputError for a URL, for several GGUF
/// files, and with the command that fetches it where the cache lacks it.
std::filesystem::path checkpoint_directory(const std::string& model);
/// The same with an adapter's directory ("": none).
CheckpointPlace checkpoint_place(const std::string& model, const std::string& adapter);

}  // namespace stereosweep::base
