// The door of this room: a job file (with overrides and sweep) -> resolved jobs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/ProbeFormat.hpp"
#include "config/yaml/Yaml.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::config {

/// A job file as it was read: a pipe gives its text once.
struct JobFile {
  std::string name;                 ///< for messages
  std::filesystem::path directory;  ///< where names count from that lead nowhere from the working directory
  std::string text;
  bool is_resolved = false;  ///< called `resolved_name`
};

/// What a run directory keeps of its job: written by this program, so that it may be larger than what people write.
inline constexpr std::string_view resolved_name = "job.resolved.yaml";

/// Keys that every kind of job may have, dotted: for advice.
std::span<const std::string> general_keys();

/// At most 1 MiB; a file called `resolved_name` may be larger. "-" is standard input; a pipe is read to its end. Throws
/// InputError.
JobFile read_job_file(const std::filesystem::path& path);

/// Faults of a job's model: "problem (why) suggestion".
using JobCheck = std::function<std::vector<std::string>(const sweep::Job&)>;

/// Whether runs that `statistics.decide` names are read; `left`: a job has their paths, and nothing that they tell.
enum class NamedRuns : std::uint8_t { read, left };

/// Reads the job and the pieces it names, applies `overrides` ("dotted.path=value"), expands
/// `sweep`. One job per combination, named NAME.VALUES; one job called NAME without a sweep. A key on the command
/// line wins over the sweep's. With a `check`, what it finds and what `stats` would refuse are in the report, too.
/// Throws InputError that lists every problem with file:line:key.
std::vector<sweep::Job> load_jobs(const JobFile& file, const std::vector<std::string>& overrides = {},
                                  const JobCheck& check = {}, NamedRuns named = NamedRuns::read);
std::vector<sweep::Job> load_jobs(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});

/// The same for a text that is at hand: no sweep, no pieces, no paths looked up. Reads what `canonical_dump` wrote.
/// `name` stands in messages. Throws InputError.
sweep::Job load_resolved(std::string_view text, const std::string& name,
                         const std::vector<std::string>& overrides = {});

// Parts of it.

/// `root` is the job after overrides, without `sweep`. The result is complete only if `problems` did not grow.
sweep::Job read_job(const Node& root, Pieces& pieces, base::Problems& problems, const JobCheck& check = {},
                    NamedRuns named = NamedRuns::read);
Node dump_job(const sweep::Job& job, Extent extent);

/// JSON Schema (draft 2020-12) of a job file, of whatever probe. What a sweep or the command line may add is not
/// needed.
base::Json job_schema();

// A resolved job as canonical YAML: kept beside the results, sent to the ranks, hashed, compared.

/// All of the job, pieces written out; `load_resolved` reads it back to an equal job. Equal jobs give equal bytes.
std::string canonical_dump(const sweep::Job& job);

/// Only what can change a raw number: without `seed` where nothing is drawn, without `name`, `statistics`,
/// `execution.device`, `execution.max_cells`, `execution.block_limit_s`, and without `model.path`, `model.revision` and
/// `model.adapter`, because the hashes of the model's files stand beside it in the job hash.
std::string canonical_raw_dump(const sweep::Job& job);

/// The fields in which two dumps differ, as "path: old, now new"; entries of lists are matched by label.
/// Throws InputError if a dump is no readable YAML.
std::vector<std::string> differences(std::string_view old_dump, std::string_view new_dump);

}  // namespace stereosweep::config
