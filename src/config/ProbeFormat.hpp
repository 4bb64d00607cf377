// What a job file and a dump hold for one kind of probe. A kind is a reader and a dump in files of its own, and one row
// of `probe_formats`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/Fields.hpp"
#include "config/Pieces.hpp"
#include "domain/Job.hpp"

namespace stereosweep::config {

/// A job while its probe's keys are read; everything is borrowed.
struct ProbeReading {
  Fields& fields;  ///< of the whole job: the probe asks for the keys it knows ("axes", "statistics", ...)
  const Node& root;
  Pieces& pieces;
  base::Problems& problems;
  const domain::Execution& execution;
};

/// Whether the probe's prompts can be conversations (`model.chat`), and what holds where the job does not say.
enum class ChatUse { refused, plain_unless_said, from_checkpoint };

struct ProbeFormat {
  std::string_view name;
  /// Reads every key of the probe; faults go to the report, and the result is then incomplete.
  domain::ProbeSettings (*read)(const ProbeReading& job);
  std::vector<std::string> keys;    ///< of the job file that are the probe's own
  std::int64_t contexts_per_block;  ///< where the job does not say
  ChatUse chat = ChatUse::refused;
  std::int64_t batch_tokens = 1024;  ///< where the job does not say; larger trees repeat fewer prefixes
};
const std::vector<ProbeFormat>& probe_formats();

domain::ProbeSettings read_association(const ProbeReading& job);
domain::ProbeSettings read_contexts(const ProbeReading& job);
domain::ProbeSettings read_coreference(const ProbeReading& job);
domain::ProbeSettings read_rating(const ProbeReading& job);

/// What a dump holds.
enum class Extent { everything, raw_numbers };

/// Adds to a dump, in fixed order, what can change a raw number, or all but `statistics`.
void dump_settings(const domain::Association& settings, Extent extent, Node& job);
void dump_settings(const domain::Contexts& settings, Extent extent, Node& job);
void dump_settings(const domain::Coreference& settings, Extent extent, Node& job);
void dump_settings(const domain::Rating& settings, Extent extent, Node& job);
/// What only `stats` reads: the value of the key `statistics`.
Node dump_statistics(const domain::Association& settings);
Node dump_statistics(const domain::Contexts& settings);
Node dump_statistics(const domain::Coreference& settings);
Node dump_statistics(const domain::Rating& settings);

}  // namespace stereosweep::config
