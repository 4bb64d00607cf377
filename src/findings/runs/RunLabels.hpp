// What tells results apart: the keys in which their resolved jobs differ.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/yaml/Node.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::findings {

/// One result, as it names itself.
struct RunOrigin {
  std::string name;        ///< of its job
  std::string probe;       ///< "association"
  std::string digest;      ///< of its raw numbers
  std::string job_sha256;  ///< of its job, the model's files included
  std::string model_sha256;
  std::string complete;  ///< "yes" or "NOT complete"
  /// "model.path" and its value, in the order of the job: scalars as they are, lists by their entries; of entries that
  /// are no scalars the first one in them, and the first digits of the list's SHA-256.
  std::vector<std::pair<std::string, std::string>> keys;
};

/// The keys of a resolved job but for `schema` and `name`. Maps become dotted keys; lists stay whole.
std::vector<std::pair<std::string, std::string>> keys_of(const config::Node& job);

/// The axis `run`. A label names the fewest differing keys, in the order of `model.path`, `probe`, then of the jobs,
/// that tell all runs apart: of `model.path` the last part (alone without its key), of others "key=value", the last
/// part of the key and of a list what not all runs have; where the jobs do not differ, the first digits of the digest
/// follow. Coordinates: name, probe, digest, job_sha256, model_sha256, complete, and each key that differs (dots as
/// underscores); of results of different probes only those that all jobs have; `model.path` only where the models'
/// files differ. Throws InputError where one result stands there twice (same job and digest).
results::AxisSchema run_axis(std::span<const RunOrigin> runs);

}  // namespace stereosweep::findings
