// A job: everything that one sweep is, resolved (no file names of pieces left). Plain values.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "query/Compute.hpp"
#include "sweep/Chat.hpp"

namespace stereosweep::sweep {

struct ModelSpec {
  std::string path;  ///< Hugging Face checkpoint directory; empty: no model (contexts with a file of vectors)
  query::Dtype dtype = query::Dtype::float32;
  std::optional<ChatTemplate> chat = std::nullopt;  ///< how prompts become conversations; nothing: they go as they are
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
};

/// The settings of one kind of probe, as a value: copied and compared as what it holds. What a kind's settings are, its
/// folder in probes/ knows; they name themselves (`probe_name`) and say what the rest must know of every job:
/// `draws()`, whether something is drawn by the seed, and `needs_model()`.
class ProbeSettings {
 public:
  /// No probe: of a job that could not be read.
  ProbeSettings() = default;
  template <class Settings>
  requires(!std::same_as<Settings, ProbeSettings>) ProbeSettings(Settings settings)
      : held_(std::make_shared<Held<Settings>>(std::move(settings))) {}  // NOLINT
  ProbeSettings(const ProbeSettings& other) : held_(other.held_ ? other.held_->copy() : nullptr) {}
  ProbeSettings& operator=(const ProbeSettings& other) {
    held_ = other.held_ ? other.held_->copy() : nullptr;
    return *this;
  }
  ProbeSettings(ProbeSettings&&) = default;
  ProbeSettings& operator=(ProbeSettings&&) = default;
  ~ProbeSettings() = default;

  /// Throws std::bad_cast where another kind is held.
  template <class Settings>
  const Settings& as() const {
    return dynamic_cast<const Held<Settings>&>(any()).value;
  }
  template <class Settings>
  Settings& as() {
    return dynamic_cast<Held<Settings>&>(const_cast<Any&>(any())).value;
  }
  std::string name() const { return held_ ? any().name() : ""; }
  bool draws() const { return held_ && any().draws(); }
  bool needs_model() const { return !held_ || any().needs_model(); }
  bool operator==(const ProbeSettings& other) const {
    return held_ == other.held_ || (held_ && other.held_ && any().equals(other.any()));
  }

 private:
  struct Any {
    virtual ~Any() = default;
    virtual std::shared_ptr<Any> copy() const = 0;
    virtual std::string name() const = 0;
    virtual bool draws() const = 0;
    virtual bool needs_model() const = 0;
    virtual bool equals(const Any& other) const = 0;
  };
  template <class Settings>
  struct Held final : Any {
    explicit Held(Settings settings) : value(std::move(settings)) {}
    std::shared_ptr<Any> copy() const override { return std::make_shared<Held>(value); }
    std::string name() const override { return Settings::probe_name; }
    bool draws() const override { return value.draws(); }
    bool needs_model() const override { return value.needs_model(); }
    bool equals(const Any& other) const override {
      const auto* same = dynamic_cast<const Held*>(&other);
      return same != nullptr && value == same->value;
    }
    Settings value;
  };
  const Any& any() const {
    if (!held_) {
      throw std::bad_cast();
    }
    return *held_;
  }
  std::shared_ptr<Any> held_;
};

struct Job {
  std::string name;
  std::uint64_t seed = 0;
  ModelSpec model;
  ProbeSettings probe;
  Execution execution;
  bool operator==(const Job&) const = default;

  /// Whether a raw number depends on `seed`: something is drawn, or the fake engine makes its numbers from it.
  bool draws() const { return execution.engine == query::EngineKind::fake || probe.draws(); }
  bool needs_model() const { return probe.needs_model(); }
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
