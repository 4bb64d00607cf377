// SeT in closed form: how far the decoder must move until a target wins by a margin (cao2022 §3.3).
//
// Moving row i of the decoder by r_i changes logit a_i by u_i = <r_i, h>; the cheapest such r_i lies along h and costs
// u_i^2 / H, H = |h|^2. With b = a_t - margin and the other logits descending x_1 >= x_2 >= ..., prefix sums S_k:
//   leads  if x_1 <= b: distance 0; else
//   k*     = max{k : (k+1) x_k > b + S_k}   (the predicate is monotone: a binary search finds it)
//   tau    = (b + S_k*) / (k*+1)            (the logit to which the k* active competitors are cut)
//   D^2    = [(tau - b)^2 + sum_{i<=k*} (x_i - tau)^2] / H
// This is the projection on an epigraph of a maximum; column squishing (Bittorf et al. 2012, algorithm 5), which the
// published code walks over the sorted vocabulary, ends in the same prefix rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "query/Query.hpp"

namespace stereosweep::engine {

/// A token with its logit.
struct Logit {
  query::TokenId id = 0;
  float value = 0;
};

/// At least min(wanted, size) largest entries of a row: every entry that is not listed is at most the smallest listed
/// one. In ascending order of ids. Entries must be finite.
std::vector<Logit> find_largest(std::span<const float> row, std::size_t wanted);

/// One target's answer in one convention.
struct SetSolution {
  double distance = 0;      ///< D, Frobenius norm of the decoder's change; NaN unless certified
  std::int32_t active = 0;  ///< k*
  double threshold = 0;     ///< tau, in logits
  query::SetStatus status = query::SetStatus::ok;
};

/// The kept top of one row of logits, shared by all targets of the row: O(log K + k*) per target.
/// An answer is certified when a kept competitor proves to be inactive or when the whole row is kept.
class SetRow {
 public:
  static constexpr std::size_t usually_kept = 128;
  /// Of a row of `size` logits the largest (see find_largest; at least one, in any order). `squared_norm` is H. An
  /// infinite logit, or H that is not finite and positive, leaves every target not_certified (but with H = 0 a leading
  /// target still leads).
  SetRow(std::vector<Logit> largest, std::size_t size, double squared_norm);

  /// `target` must lie in the row, and `logit` is its own; nothing where what is kept does not certify the answer.
  std::optional<SetSolution> solve(std::size_t target, float logit, double margin = 1) const;

  /// Keeps eight times as many. `logits`: the whole row.
  void widen(std::span<const float> logits) { keep(find_largest(logits, entries_.size() * 8)); }

 private:
  void keep(std::vector<Logit> largest);
  double logit(std::size_t position) const { return static_cast<double>(entries_[position].value) - top_; }
  std::size_t rank_of(std::size_t target, float logit) const;
  bool is_active(std::size_t k, std::size_t rank, double b) const;

  std::size_t size_;
  double squared_norm_;
  bool usable_ = true;
  double top_ = 0;              ///< largest logit; subtracted first, because sums of squares cancel
  std::vector<Logit> entries_;  ///< the largest, descending, ties by id
  std::vector<double> sums_;    ///< sums_[k]: of the first k of entries_, less top_ each
};

}  // namespace stereosweep::engine
