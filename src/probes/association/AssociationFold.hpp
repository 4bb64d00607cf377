// Lays the answers of a block out as the association probe's raw columns.
#pragma once

#include <span>

#include "probes/association/Association.hpp"
#include "probes/association/AssociationProbe.hpp"

namespace stereosweep::probes::association {

/// Starts with nothing scored (NaN, -1, no subwords); contexts are added in any order.
class AssociationFold {
 public:
  AssociationFold(const results::RawSchema& schema, const AssociationColumns& columns, const Measures& measures,
                  std::uint64_t num_contexts);
  /// A context without texts: every cell gets `no_form`.
  void add_unasked(std::size_t context, const ContextView& view);
  /// `answers`: one per ask of `view.targets`. Throws std::logic_error if their shape is not what was asked.
  void add(std::size_t context, const ContextView& view, std::span<const query::Answer> answers);
  results::RawBlock take() { return std::move(block_); }

 private:
  CellStatus add_subword(std::size_t place, std::size_t subword, std::size_t target, const query::SlotAnswer& slot);
  CellStatus add_set(std::size_t place, const query::SetDistance& set);
  const query::SlotAnswer& slot_of(const ContextView& view, const Ask& ask, const query::FillAnswer& answer) const;
  double* numbers(Number name) { return numbers_[static_cast<int>(name)]; }

  const AssociationColumns columns_;
  const Measures measures_;
  results::RawBlock block_;
  std::size_t num_words_ = 0;
  std::size_t max_subwords_ = 0;
  double* numbers_[9] = {};  ///< into block_; null: not measured
  std::int32_t* active_bias_ = nullptr;
  std::int32_t* active_plain_ = nullptr;
};

}  // namespace stereosweep::probes::association
