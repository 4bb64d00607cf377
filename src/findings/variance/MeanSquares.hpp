// Analysis of variance of a complete table whose axes are crossed: sums of squares of every main effect and
// interaction, and variance components from expected mean squares. Knows no probe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stats/VarianceComponents.hpp"

namespace stereosweep::findings {

/// Axes of a table: bit a stands for axis a. An effect is the set of its axes.
using AxisSet = std::size_t;

class MeanSquares {
 public:
  /// `values` [axis 0, axis 1, ...], complete, borrowed for this call; their mean is near 0, so that squares keep their
  /// digits. At most eight axes.
  MeanSquares(std::vector<std::size_t> lengths, std::span<const double> values);

  /// Sum of squares of an effect; those of all effects add up to the total. 0 where below 1e-12 of the total.
  double square(AxisSet effect) const { return squares_[effect]; }
  double degrees(AxisSet effect) const;
  /// Of all effects.
  double total() const { return total_; }
  /// Axes with more than one label.
  AxisSet present() const { return present_; }

  /// Variance of an effect, every axis a sample: the mean squares of all effects that contain it, with alternating
  /// signs, over the number of cells that share its labels (Searle, Casella and McCulloch 1992, Variance Components,
  /// ch. 4; Brennan 2001, Generalizability Theory, ch. 3). `within`: axes whose every label has an analysis of its own,
  /// the squares added up over them; its interval allows for effects that all these labels have in common. The effect
  /// of all axes is its mean square: with what is left of each cell. NaN for an effect of an axis with one label.
  stats::VarianceComponent component(AxisSet effect, double confidence, AxisSet within = 0) const;

 private:
  double length_of(AxisSet axes) const;

  std::vector<std::size_t> lengths_;
  std::vector<double> squares_;  ///< [effect]
  double total_ = 0;
  AxisSet present_ = 0;
};

}  // namespace stereosweep::findings
