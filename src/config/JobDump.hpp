// A resolved job as canonical YAML: kept beside the results, sent to the ranks, hashed, compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sweep/Job.hpp"

namespace stereosweep::config {

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
