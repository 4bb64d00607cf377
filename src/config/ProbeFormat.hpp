// What a job file and a dump hold for one kind of probe: the part of a probe's interface that this room needs. The
// kinds themselves stand in rooms below and are added when the program starts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/axes/AxisSource.hpp"
#include "config/yaml/Fields.hpp"
#include "sweep/Comparison.hpp"
#include "sweep/Job.hpp"
#include "sweep/Keys.hpp"

namespace stereosweep::config {

/// A job while its probe's keys are read; everything is borrowed.
struct ProbeReading {
  Fields& fields;      ///< of the whole job: the probe asks for the keys it knows ("axes", ...)
  Fields& statistics;  ///< of the key `statistics`, without those that every probe has
  const Node& root;
  Pieces& pieces;
  base::Problems& problems;
  const sweep::Execution& execution;
  /// Where a key of the job stands; the job's beginning where it is left out.
  base::Place place(const std::string& key) const { return fields.place(key); }
};

/// Reports at `axes` that a product has more than `execution.max_cells` cells. `lengths`: of its axes, with what they
/// count: (3, "templates").
void check_cells(const ProbeReading& job, const std::vector<std::pair<std::uint64_t, std::string>>& lengths);

/// Whether the probe's prompts can be conversations (`model.chat`), and what holds where the job does not say.
enum class ChatUse { refused, plain_unless_said, from_checkpoint };

/// Tokens of one pass that keep a large GPU busy.
constexpr std::int64_t gpu_batch_tokens = 16384;

class ProbeFormat {
 public:
  /// Of `execution`, so that a block fills a batch.
  struct Sizes {
    std::int64_t contexts_per_block = 16;
    std::int64_t batch_tokens = 1024;
    bool operator==(const Sizes&) const = default;
  };
  /// What holds where the job does not say. `on_gpu`: where it says `execution.device: cuda`. What `auto` finds does
  /// not matter: blocks must be the same wherever a run is continued.
  struct Defaults {
    Sizes sizes;
    Sizes on_gpu = {.contexts_per_block = 256, .batch_tokens = gpu_batch_tokens};
    ChatUse chat = ChatUse::refused;
    const Sizes& sizes_on(query::Device device) const { return device == query::Device::cuda ? on_gpu : sizes; }
  };
  ProbeFormat() = default;
  ProbeFormat(const ProbeFormat&) = delete;
  ProbeFormat& operator=(const ProbeFormat&) = delete;
  virtual ~ProbeFormat() = default;

  /// The value of the key `probe`.
  virtual std::string_view name() const = 0;
  virtual Defaults defaults() const = 0;
  /// Reads every key of the probe; faults go to the report, and the result is then incomplete.
  virtual sweep::ProbeSettings read(const ProbeReading& job) const = 0;
  /// Shows its keys, in fixed order, to a dump; `statistics`: those that only `stats` reads.
  virtual void dump(const sweep::ProbeSettings& settings, ShownKeys& job) const = 0;
  virtual void dump_statistics(const sweep::ProbeSettings& settings, ShownKeys& statistics) const = 0;
  /// The same keys, described.
  virtual void describe(ShownKeys& job, ShownKeys& statistics) const = 0;
  /// Why a server cannot be asked instead of a checkpoint (Job::model.server); each problem is a whole sentence.
  virtual std::vector<sweep::KeyFault> server_faults(const sweep::Job& job) const;
  /// What of `axes.design` the job's axes do not have; each problem is a whole sentence.
  virtual std::vector<std::string> design_faults(const sweep::Job& /*job*/) const { return {}; }
  /// What `stats` would refuse under `statistics`, by its keys: names that the axes of the job's scores lack, as far as
  /// the job tells these, and tables. Each problem is a whole sentence.
  virtual std::vector<sweep::KeyFault> statistics_faults(const sweep::Job& /*job*/) const { return {}; }
  /// The variances that the pilot of `statistics.decide` tells. Throws InputError where it tells none.
  virtual sweep::DecideRequest::Plan plan_of_pilot(const sweep::Job& job) const = 0;
  /// What is decided of the rows that the run of `statistics.decide.after` left undecided: as it declared, with these
  /// rows. Throws InputError where it kept no level for that, or this job cannot be the second one.
  virtual sweep::DecideRequest decide_after(const sweep::Job& job) const = 0;
};

/// `format` is borrowed for the rest of the program; its name is new.
void add_probe_format(const ProbeFormat& format);
/// In the order in which they were added.
std::span<const ProbeFormat* const> probe_formats();
/// Throws InputError where no probe has the name.
const ProbeFormat& format_of(std::string_view name);

/// The keys of `statistics` that every probe has: what is asked of its score table. Reads, dumps or describes them;
/// beside them stand the probe's own. A dump has them where one is not the default.
template <class Keys, class Comparison>
void comparison_keys(Keys& statistics, Comparison& comparison) {
  bool is_dump = false;
  if constexpr (std::is_same_v<Keys, ShownKeys>) {
    is_dump = !statistics.describes();
  }
  if (is_dump && comparison == sweep::Comparison()) {  // dumps of older runs stay what they were
    return;
  }
  sweep::Comparison::each_statistic(comparison, [&](const sweep::Statistic& statistic, auto& asked) {
    using Request = typename std::remove_cvref_t<decltype(asked)>::value_type;
    static_assert(
        requires { Request::key_form; }, "messages show the form of what is asked");
    if constexpr (requires { asked.has_value(); }) {
      statistics.all_or(statistic.key, asked, statistic.about);
    } else {
      static_assert(
          requires(Request request) { request.name, Request::listed_as; }, "rows are told apart by names");
      if (!is_dump || !asked.empty()) {
        statistics.items(statistic.key, asked, statistic.about);
      }
    }
  });
  statistics.nested(
      "inference", [&](auto& keys) { sweep::Comparison::inference_keys(comparison, keys); },
      "of every test and interval");
}

}  // namespace stereosweep::config
