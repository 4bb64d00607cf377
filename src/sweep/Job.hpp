// A job: everything that one sweep is, resolved (no file names of pieces left). Plain values.
#pragma once

#include <any>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "chat/ChatTemplate.hpp"
#include "query/Compute.hpp"
#include "sweep/Axes.hpp"
#include "sweep/Comparison.hpp"
#include "sweep/Server.hpp"

namespace stereosweep::sweep {

struct ModelSpec {
  /// Checkpoint directory, GGUF file or name on the hub; empty: no model (contexts with a file of vectors).
  std::string path;
  query::Dtype dtype = query::Dtype::float32;
  /// How prompts become conversations; nothing: they go as they are.
  std::optional<chat::ChatTemplate> chat = std::nullopt;
  std::string system = "default";  ///< system text of every conversation: `default` (the template's), `none`, a text
  std::string revision = {};       ///< commit at which the cache held the name; empty: a directory, or not found yet
  std::optional<Server> server = std::nullopt;  ///< in place of a path
  /// For people: "./bert", "org/name", "gpt-4o at https://..."
  std::string shown() const { return server ? server->name + " at " + server->url : path; }
  /// What is read: the path, or the name at its revision.
  std::string location() const { return revision.empty() ? path : path.substr(0, path.find('@')) + "@" + revision; }
  std::string adapter = {};  ///< directory of an adapter, or its name on the hub; empty: none
  bool operator==(const ModelSpec&) const = default;
};

/// What can change a bit of the raw numbers is part of the job hash; `device` is recorded instead.
struct Execution {
  query::EngineKind engine = query::EngineKind::torch;
  query::Device device = query::Device::automatic;
  int threads_per_rank = 1;
  int tensor_parallel = 1;                 ///< ranks of one node that hold the model together, a slice each
  std::int64_t batch_tokens = 1024;        ///< budget of distinct tokens of one forward pass
  std::int64_t contexts_per_block = 16;    ///< contexts of one unit of scheduling, journal and reuse
  std::int64_t max_cells = 1'000'000'000;  ///< a job of more cells is refused; changes no number
  std::int64_t block_limit_s = 0;          ///< s; a block that takes longer ends the run; 0: no limit
  bool operator==(const Execution&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.choice("engine", self.engine, {"torch", "fake"}, "fake: numbers made of a hash of each query, no weights");
    keys.not_raw().choice("device", self.device, {"auto", "cpu", "cuda"});
    keys.integer("threads_per_rank", self.threads_per_rank, 1, 1024, "CPU threads of one rank");
    keys.unless_default().integer("tensor_parallel", self.tensor_parallel, 1, 64,
                                  "ranks of one node that hold the model together");
    keys.integer("batch_tokens", self.batch_tokens, 1, 16'777'216, "tokens of one forward pass");
    keys.integer("contexts_per_block", self.contexts_per_block, 1, 1'000'000,
                 "contexts that are scheduled, stored and reused together");
    keys.not_raw().integer("max_cells", self.max_cells, 1, std::int64_t{1} << 62, "a larger job is refused");
    keys.not_raw().unless_default().integer("block_limit_s", self.block_limit_s, 0, 10'000'000,
                                            "seconds; a block that takes longer ends the run; 0: no limit");
  }
};

/// The settings of one kind of probe, as a value: copied and compared as what it holds. What a kind's settings are, its
/// folder in probes/ knows; they name themselves (`probe_name`) and say what the rest must know of every job:
/// `draws()`, whether something is drawn by the seed, `needs_model()`, and, where templates have rephrasings, `design`.
class ProbeSettings {
 public:
  /// No probe: of a job that could not be read.
  ProbeSettings() = default;
  template <class Settings>
  requires(!std::same_as<Settings, ProbeSettings>) ProbeSettings(Settings settings)
      : value_(std::move(settings)), kind_(&kind_of<Settings>) {}  // NOLINT

  /// Throws std::bad_cast where another kind is held.
  template <class Settings>
  const Settings& as() const {
    return std::any_cast<const Settings&>(value_);
  }
  template <class Settings>
  Settings& as() {
    return std::any_cast<Settings&>(value_);
  }
  std::string name() const { return kind_ == nullptr ? "" : kind_->name; }
  bool draws() const { return kind_ != nullptr && kind_->draws(*this); }
  bool needs_model() const { return kind_ == nullptr || kind_->needs_model(*this); }
  std::optional<Design> design() const { return kind_ == nullptr ? std::nullopt : kind_->design(*this); }
  bool operator==(const ProbeSettings& other) const {
    return kind_ == other.kind_ && (kind_ == nullptr || kind_->equal(*this, other));
  }

 private:
  struct Kind {
    const char* name;
    bool (*draws)(const ProbeSettings&);
    bool (*needs_model)(const ProbeSettings&);
    std::optional<Design> (*design)(const ProbeSettings&);
    bool (*equal)(const ProbeSettings&, const ProbeSettings&);
  };
  template <class Settings>
  static const Kind kind_of;
  std::any value_;
  const Kind* kind_ = nullptr;
};

// Clang wants the class complete before the lambdas.
template <class Settings>
constexpr ProbeSettings::Kind ProbeSettings::kind_of = {
    Settings::probe_name,
    [](const ProbeSettings& held) { return held.as<Settings>().draws(); },
    [](const ProbeSettings& held) { return held.as<Settings>().needs_model(); },
    [](const ProbeSettings& held) -> std::optional<Design> {
      if constexpr (requires { held.as<Settings>().design; }) {
        return held.as<Settings>().design;
      }
      return std::nullopt;
    },
    [](const ProbeSettings& left, const ProbeSettings& right) { return left.as<Settings>() == right.as<Settings>(); },
};

struct Job {
  std::string name;
  std::uint64_t seed = 0;
  ModelSpec model;
  ProbeSettings probe;
  Execution execution;
  Comparison comparison;        ///< read by `stats` only
  std::string language = "en";  ///< of the prompts: whose words the program itself writes
  bool operator==(const Job&) const = default;

  /// Whether a raw number depends on `seed`: something is drawn, or the fake engine makes its numbers from it.
  bool draws() const { return execution.engine == query::EngineKind::fake || probe.draws() || design(); }
  /// The part of its templates and rephrasings that is asked; nothing: all.
  std::optional<Design> design() const { return probe.design(); }
  bool needs_model() const { return probe.needs_model(); }
  /// Whether a checkpoint is read: no server answers.
  bool reads_model() const { return needs_model() && !model.server; }
  /// The settings of one kind of probe. Throws std::bad_cast where the job is of another kind.
  template <class Settings>
  const Settings& settings() const {
    return probe.as<Settings>();
  }
  template <class Settings>
  Settings& settings() {
    return probe.as<Settings>();
  }
  /// "association": the value of the key `probe`, the name of the result file.
  std::string probe_name() const { return probe.name(); }
};

}  // namespace stereosweep::sweep
