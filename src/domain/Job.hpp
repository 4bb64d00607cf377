// A job: everything that one sweep is, resolved (no file names of pieces left). Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "domain/Axes.hpp"

namespace stereosweep::domain {

/// Arithmetic of the model's body; log-softmax is float32 or better always.
enum class Dtype { float32, bfloat16 };
enum class Device { automatic, cpu, cuda };
/// `fake` answers from a hash of each query: tests of everything but the model, at any size.
enum class EngineKind { torch, fake };

struct ModelSpec {
  std::string path;  ///< Hugging Face checkpoint directory
  Dtype dtype = Dtype::float32;
  bool operator==(const ModelSpec&) const = default;
};

/// What an association job measures. All raw numbers of a measure are kept; variants are derived later.
struct Measures {
  bool ilps = true;       ///< log-probability of the first and of the last subword
  bool ilps_star = true;  ///< chain over subwords, with the class masses
  bool set = true;        ///< sensitivity test: distance of the decoder that makes the word win
  bool operator==(const Measures&) const = default;
};

struct Priors {
  bool word = true;  ///< the generic noun below in place of the group (published code)
  bool mask = true;  ///< a mask in place of the group (paper)
  std::string word_singular = "person";
  std::string word_plural = "people";
  bool operator==(const Priors&) const = default;
};

/// What can change a bit of the raw numbers is part of the job hash; `device` is recorded instead.
struct Execution {
  EngineKind engine = EngineKind::torch;
  Device device = Device::automatic;
  int threads_per_rank = 1;
  std::int64_t batch_tokens = 1024;        ///< budget of distinct tokens of one forward pass
  std::int64_t contexts_per_block = 16;    ///< contexts of one unit of scheduling, journal and reuse
  std::int64_t max_cells = 1'000'000'000;  ///< a job of more contexts x words is refused; changes no number
  bool operator==(const Execution&) const = default;
};

/// Read by `stats` only: no change here invalidates a score.
struct Statistics {
  enum class Aggregate { median, mean };
  Aggregate word_aggregate = Aggregate::median;  ///< over the words of a pole
  std::string human_ratings;                     ///< path of a table of human means; empty: none
  /// Name in the table (group, pair or pole) -> our label, where spelling rules do not find it.
  std::vector<std::pair<std::string, std::string>> rating_aliases;
  std::vector<std::string> templates;  ///< labels to average over; empty: all
  bool operator==(const Statistics&) const = default;
};

struct Axes {
  std::vector<Group> groups;
  IntersectionRule intersections;
  std::vector<TraitPair> traits;
  std::vector<Template> templates;
  std::vector<Rephrasing> rephrasings;  ///< never empty: "none" is one rephrasing with the wrapper "{prompt}"
  bool operator==(const Axes&) const = default;
};

struct Job {
  std::string name;
  std::uint64_t seed = 0;
  ModelSpec model;
  std::string probe;  ///< "association"
  Axes axes;
  Measures measures;
  Priors priors;
  Execution execution;
  Statistics statistics;
  bool operator==(const Job&) const = default;
};

}  // namespace stereosweep::domain
