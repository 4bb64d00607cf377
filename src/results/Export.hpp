// A run's raw numbers as one HDF5 file: a netCDF-4 dataset at the root that explains itself.
//
//   coordinates   every axis of the schema, with its auxiliary coordinates; the first subjects are the axis `prior`
//   cubes         NAME[group, template, rephrasing, ...] and prior_NAME[prior, template, rephrasing, ...]
//   /provenance   documents (job_yaml, job_resolved, ...)
//
// Values are written in canonical order with bounded memory, whatever the size of the product: slabs of 4 MiB, two and
// one more for each thread that compresses, and what those have come to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files/PendingFile.hpp"
#include "hdf5/DataSet.hpp"
#include "results/RawBlock.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::results {

/// Raw numbers of one block; nothing where it is not scored yet. Called once per block, in canonical order.
using BlockSource = std::function<std::optional<RawBlock>(const sweep::Block&)>;

/// Root attributes of the file.
using Attributes = std::vector<std::pair<std::string, hdf5::AttributeValue>>;

struct ExportCounts {
  std::uint64_t num_blocks = 0;
  std::uint64_t num_blocks_scored = 0;
  base::Digest digest{};  ///< RawDigest of the file's numbers
};

/// What is exported. `schema` and `blocks` are borrowed.
///
/// `attributes` are the run's own facts, in this order: created (ISO 8601 UTC; when the run began, so that the same
/// run gives the same file), dependencies (libtorch, CUDA, MPI, ... at run time), machine, hosts, gpus, num_ranks
/// (history), slurm_job_id, seed, dtype, job_sha256, model, model_sha256, tokenizer_sha256, settings, and what scoring
/// took: num_queries, num_distinct_sequences, num_distinct_tokens, num_head_rows; of a model that was named as on the
/// hub also model_revision (commit), of one that is not stored as plain numbers model_storage, with an adapter adapter
/// and adapter_sha256; of a run that stops asking when it knows num_rounds, of one with a sparse design design (a
/// sentence). The export itself adds schema, schema_version, title, software, software_version, build, hdf5_version,
/// numerical_contract, raw_cubes, outer_axes, num_blocks, num_blocks_scored, raw_digest and, last, complete.
struct RunDescription {
  std::string title;
  std::string probe;
  const RawSchema* schema = nullptr;
  const sweep::BlockPlan* blocks = nullptr;
  BlockSource source;
  Attributes attributes;
  std::vector<std::pair<std::string, std::string>> documents;  ///< name and text in /provenance: job_yaml, job_resolved
  base::PendingFile::Readers readers = base::PendingFile::Readers::usual;
  unsigned num_threads = 1;  ///< 1: all in the calling one; else that many compress beside it. No byte depends on it.
  std::function<void(const ExportCounts&)> before_rename = {};  ///< what it throws leaves the file what it was before
  std::optional<std::uint64_t> num_blocks_wanted = {};          ///< of a run that stopped when it knew; nothing: all
};

/// Writes `file` (under a temporary sibling name, fsynced, renamed). Contexts of unscored blocks read as not scored.
/// Equal descriptions give equal files. Throws base::Error (full disk, ...); `file` is then what it was before.
ExportCounts export_run(const RunDescription& run, const std::filesystem::path& file);

/// The schema as files have it: status cubes know the flag "not_scored".
RawSchema with_not_scored(RawSchema schema);

/// What stands in contexts that are not scored: NaN, -1, the flag not_scored, "". `schema` from with_not_scored.
RawBlock unscored_block(const RawSchema& schema, std::uint64_t num_contexts);

}  // namespace stereosweep::results
