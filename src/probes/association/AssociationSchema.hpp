// The raw cubes of the association probe (definitions: README.md of this room) and the places of its columns.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/association/Association.hpp"
#include "results/RawBlock.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::association {

/// A word of a pole: one entry of the word axis. A word that stands for two poles has two entries.
struct WordEntry {
  std::string word;
  std::string pole;
  std::string pair;
  std::string dimension;
  std::string side;  ///< "left", "right"
};

/// In the order of the job: pair, left before right, word.
std::vector<WordEntry> list_words(const std::vector<sweep::TraitPair>& traits);

/// What the numbers of one subword are called.
enum class Number : std::uint8_t {
  logprob,
  log_mass_initial,
  log_mass_continuation,
  set_distance_bias,
  set_distance_plain,
  set_threshold_bias,
  set_threshold_plain,
  set_active_bias,
  set_active_plain,
};

/// Column of each cube in RawBlock::columns; -1: the job does not measure it.
struct AssociationColumns {
  int number[9] = {-1, -1, -1, -1, -1, -1, -1, -1, -1};
  int num_subwords = -1;
  int status = -1;
  int prompt = -1;
  int problem = -1;
  int of(Number name) const { return number[static_cast<int>(name)]; }
};

/// Adds the cubes that `measures` ask for and says where their columns are.
AssociationColumns add_association_cubes(results::RawSchema& schema, const Measures& measures);

/// sweep::Axes [group, template, rephrasing] and [word, subword].
results::RawSchema association_axes(const sweep::Axes& axes, const std::vector<sweep::Subject>& subjects,
                                    const std::vector<WordEntry>& words, std::uint32_t max_subwords);

}  // namespace stereosweep::probes::association
