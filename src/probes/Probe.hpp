// A probe turns cells of the product into queries and folds the answers into raw numbers. It never sees a tensor.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/Sha256.hpp"
#include "chat/ChatTemplate.hpp"
#include "config/yaml/Fields.hpp"
#include "config/yaml/Yaml.hpp"
#include "query/Query.hpp"
#include "results/RawBlock.hpp"
#include "sweep/Job.hpp"
#include "sweep/Product.hpp"
#include "sweep/Subjects.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::probes {

/// All queries that one step of a block asks at once.
struct Round {
  std::vector<query::Query> queries;
};

/// Rounds of a block so far, each with its answers.
struct Transcript {
  std::vector<Round> rounds;
  std::vector<std::vector<query::Answer>> answers;
};

/// Pure: everything depends on the job, the tokenizer and the block alone. Safe to use from several threads.
class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  virtual ~Probe() = default;
  virtual const results::RawSchema& schema() const = 0;
  virtual const sweep::BlockPlan& blocks() const = 0;
  /// What to ask first; nothing where the stage computes its blocks without a model.
  virtual Round first(const sweep::Block& /*block*/) const { return {}; }
  /// Whether `next` may ask more: its answers are then read before another block runs.
  virtual bool asks_again() const { return false; }
  /// What to ask after the answers so far; nothing: the block is complete.
  virtual std::optional<Round> next(const sweep::Block& /*block*/, const Transcript& /*transcript*/) const {
    return std::nullopt;
  }
  virtual results::RawBlock fold(const sweep::Block& block, const Transcript& transcript) const = 0;
  /// Every conversation that the model read in a block, as its raw numbers tell, to be rendered a second time by the
  /// checkpoint's own template; none where the probe's prompts are no conversations.
  using ConversationVisitor = std::function<void(const std::vector<chat::Message>& messages)>;
  virtual void each_conversation(const sweep::Block& /*block*/, const results::RawBlock& /*raw*/,
                                 const ConversationVisitor& /*visit*/) const {}
  /// Feeds everything that the block's raw numbers depend on besides model and settings: prompts, targets, measures.
  virtual void hash_content(const sweep::Block& block, base::Sha256& hash) const = 0;
};

/// What a block's numbers depend on, of the settings, beside what the block tells itself: for `hash_content`. Made of
/// the list of keys, so that a new key is in it unless the list says otherwise.
std::string settings_of_block(const auto& settings) {
  return config::emit_yaml(config::dump_extent(settings, config::Extent::block));
}

/// A text of every item of an axis: a coordinate, or the labels.
template <class Item>
struct AxisText {
  std::string name;
  std::string long_name;
  std::function<std::string(const Item&)> read;
};

/// The axis of `items`.
template <class Item>
results::AxisSchema axis_of(const std::string& name, const std::string& long_name, const std::vector<Item>& items,
                            const std::type_identity_t<std::function<std::string(const Item&)>>& label,
                            const std::type_identity_t<std::vector<AxisText<Item>>>& coordinates = {}) {
  results::AxisSchema axis{name, long_name, base::mapped(items, label), {}};
  for (const auto& coordinate : coordinates) {
    axis.coordinates.push_back({coordinate.name, coordinate.long_name, base::mapped(items, coordinate.read)});
  }
  return axis;
}

/// An axis with the labels 0, 1, 2, ...
results::AxisSchema numbered_axis(std::string name, std::string long_name, std::uint64_t length);

/// A value of the score table's axis `measure`.
struct MeasureText {
  std::string name;
  std::string units;
  std::string description;
  std::string lowest = {};   ///< least score possible; "": there is none, or it is not known
  std::string highest = {};  ///< greatest
  std::size_t answers = 0;   ///< sampled answers that a replicate's score is the mean of, if all are read
};

/// `long_name`: "what a score is".
results::AxisSchema measure_axis(const std::string& long_name, const std::vector<MeasureText>& measures);

/// The score table's axis of what is rated, of a result's axis with `dimension` and `polarity`; `kept`: further
/// coordinates of it. Scores of items of negative polarity are turned round.
results::AxisSchema rated_item_axis(const results::AxisSchema& rated, const std::vector<std::string>& kept = {});

/// Adds the coordinates `third`, ... of the parts of subjects, as far as one has so many; `parts`: [subject], labels.
void add_further_parts(results::AxisSchema& axis, const std::vector<std::vector<std::string>>& parts);

/// Groups and intersections, with what they are made of; `long_name`: "who is rated".
results::AxisSchema group_axis(const std::string& long_name, const std::vector<sweep::Subject>& subjects);

results::CubeSchema cube(std::string name, results::ElementType type, std::vector<std::string> inner_axes,
                         std::string units, std::string long_name, std::string description = "",
                         std::vector<std::string> flag_meanings = {});

/// The contexts: of the outer axes.
sweep::Product product_of(const results::RawSchema& schema);

/// The values of a cube in a block of the schema. Throws InputError where it has no cube of this name and type.
template <class Value, class Block>
auto& column_named(Block& block, const results::RawSchema& schema, const std::string& name) {
  const auto place = schema.find_cube(name);
  auto* column = place ? std::get_if<std::vector<Value>>(&block.columns.at(*place)) : nullptr;
  if (column == nullptr) {
    base::refuse("there is no cube '" + name + "' of the type it should have", "this is no result of the probe");
  }
  return *column;
}

/// What the values of a cube of flags mean. Throws InputError where there is no such cube.
const std::vector<std::string>& meanings_of(const results::RawSchema& schema, const std::string& name);

/// Whether the engine has not answered. `status` then says why, and the first failure of a context is its `problem`.
template <class Status>
bool has_failed(const query::Answer& answer, std::uint8_t& status, std::string& problem) {
  const auto* error = std::get_if<query::QueryError>(&answer);
  if (error != nullptr) {
    const bool is_long = error->fault == query::QueryFault::too_long;
    status = static_cast<std::uint8_t>(is_long ? Status::too_long : Status::engine_error);
    problem = problem.empty() ? error->message : problem;
  }
  return error != nullptr;
}

/// Reports an axis of the product that has no values, though its list is not empty: all of it is left out, or a table
/// of groups has the generic row alone. `what`: "group".
void require_axis(std::uint64_t length, const char* key, const std::string& what, base::Problems& problems);

/// Where value `index` of a block's cube stands, for people: "group women, template t1, rephrasing none, trait kind".
std::string place_of(const Probe& probe, const sweep::Block& block, const results::CubeSchema& cube, std::size_t index);

/// Key of a block: hash of its content and of `fingerprint` (model and tokenizer files, dtype, threads, batch budget,
/// numerics version). Equal keys mean equal raw numbers on the same kind of device.
base::Digest block_key(const Probe& probe, const sweep::Block& block, const base::Digest& fingerprint);

}  // namespace stereosweep::probes
