// What besides the job decides the bits of a run: files of the model and tokenizer, dtype, threads, batches, engine,
// device, numerics version, build and libraries. Enters the key of every block and the head of every journal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files/File.hpp"
#include "base/files/Sha256.hpp"
#include "engine/EngineFactory.hpp"
#include "parallel/GpuBinding.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::run {

struct RunSettings {
  std::string text;  ///< JSON object of texts, in a fixed order
  base::Digest fingerprint() const { return base::sha256(text); }
};

/// Whether the fake engine answers.
bool is_fake(const sweep::Job& job);

/// How the job's engine is made, without its group of ranks.
engine::EngineSettings engine_settings(const sweep::Job& job);

/// The settings with one more field: what a stage's input adds to the heads of its journals.
RunSettings with_field(const RunSettings& settings, const std::string& key, const std::string& value);

/// SHA-256 of files by their field's name: "model/config.json".
using FileHashes = std::map<std::string, std::string>;

/// Which of several ranks that share the hashing calls.
struct Share {
  int part = 0;
  int parts = 1;
};

/// Of this share of the files that matter to the engine: the fake one sees only the tokenizer. The shares have about
/// equal sizes, and together every file once. Reads all weights.
FileHashes hash_files(const sweep::Job& job, const base::FileSet& files, Share share);

RunSettings make_settings(const sweep::Job& job, const FileHashes& hashes, const std::string& device);
/// The settings with the build of this program and the libraries that compute for this job on this rank's `gpu`.
RunSettings with_software(RunSettings settings, const sweep::Job& job, const parallel::GpuBinding& gpu);
/// Whether a line of settings_differences is about what `with_software` adds, or about the numerics version.
bool is_software(const std::string& difference);
/// Whether it is about a file of the model or the tokenizer.
bool is_of_file(const std::string& difference);

/// "execution.batch_tokens: 512, now 1024" for every field that differs; hashes are told as "other content than
/// before".
std::vector<std::string> settings_differences(const std::string& old_text, const std::string& new_text);

/// "" where the settings do not have it.
std::string field_of(const RunSettings& settings, const std::string& key);

/// One hash over the files of a kind, for provenance: "model" or "tokenizer".
std::string files_hash(const RunSettings& settings, const std::string& kind);

}  // namespace stereosweep::run
