// A job: everything that one sweep is, resolved (no file names of pieces left). Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "domain/Association.hpp"
#include "domain/Chat.hpp"
#include "domain/Contexts.hpp"
#include "domain/Coreference.hpp"
#include "domain/Rating.hpp"
#include "query/Compute.hpp"

namespace stereosweep::domain {

using query::Device;
using query::Dtype;
using query::dtype_names;
using query::EngineKind;
using query::name_of;
using query::size_of;

struct ModelSpec {
  std::string path;  ///< Hugging Face checkpoint directory; empty: no model (contexts with a file of vectors)
  Dtype dtype = Dtype::float32;
  std::optional<ChatTemplate> chat = std::nullopt;  ///< how prompts become conversations; nothing: they go as they are
  bool operator==(const ModelSpec&) const = default;
};

/// What can change a bit of the raw numbers is part of the job hash; `device` is recorded instead.
struct Execution {
  EngineKind engine = EngineKind::torch;
  Device device = Device::automatic;
  int threads_per_rank = 1;
  int tensor_parallel = 1;                 ///< ranks of one node that hold the model together, a slice each
  std::int64_t batch_tokens = 1024;        ///< budget of distinct tokens of one forward pass
  std::int64_t contexts_per_block = 16;    ///< contexts of one unit of scheduling, journal and reuse
  std::int64_t max_cells = 1'000'000'000;  ///< a job of more cells is refused; changes no number
  std::int64_t block_limit_s = 0;          ///< s; a block that takes longer ends the run; 0: no limit
  bool operator==(const Execution&) const = default;
};

/// What the probe needs; the alternative that is held is the kind of the job. Each names itself: `probe_name`.
using ProbeSettings = std::variant<Association, Coreference, Rating, Contexts>;

struct Job {
  std::string name;
  std::uint64_t seed = 0;
  ModelSpec model;
  ProbeSettings probe;
  Execution execution;
  bool operator==(const Job&) const = default;

  /// Whether a raw number depends on `seed`: something is drawn, or the fake engine makes its numbers from it.
  bool draws() const {
    return execution.engine == EngineKind::fake ||
           std::visit([](const auto& settings) { return settings.draws(); }, probe);
  }
  /// The settings of one kind of probe. Throws std::bad_variant_access where the job is of another kind.
  const Association& association() const { return std::get<Association>(probe); }
  Association& association() { return std::get<Association>(probe); }
  const Rating& rating() const { return std::get<Rating>(probe); }
  const Coreference& coreference() const { return std::get<Coreference>(probe); }
  Coreference& coreference() { return std::get<Coreference>(probe); }
  const Contexts& contexts() const { return std::get<Contexts>(probe); }
  Contexts& contexts() { return std::get<Contexts>(probe); }
  /// "association": the value of the key `probe`, the name of the result file.
  std::string probe_name() const {
    return std::visit([](const auto& settings) { return std::string(settings.probe_name); }, probe);
  }
};

}  // namespace stereosweep::domain
