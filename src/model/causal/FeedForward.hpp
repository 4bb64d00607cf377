// The feed-forward part of a layer: one, or experts of which a router chooses some for every row.
//   shapes  [rows, hidden] -> [rows, hidden] in the same dtype, [rows of a tensor-parallel slice, ..] likewise
//   rounds  experts' weights and their sum in float32, rounded once
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/body/BodyWeights.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/Linear.hpp"

namespace stereosweep::model {

/// outer(activation(inner(input))), plus `residual` if that is defined (see Linear::apply_and_add).
at::Tensor run_feed_forward(const FeedForward& layer, const BodySettings& settings, const at::Tensor& input,
                            const at::Tensor& residual);

/// Makes a column of the outer weight of its bias, for torch's operators: their product adds to a residual or adds a
/// bias, not both. It meets an inner number that is 8 in every row, which GELU and ReLU leave as it is. Does nothing
/// where a bias is missing, or with another activation. `layer` must not be gated.
void put_bias_into_weight(FeedForward& layer, Activation activation);

/// What the products of all experts are made of. Undefined where they cannot multiply together.
struct ExpertStack {
  at::Tensor weight;  ///< [experts, in, out]
  at::Tensor bias;    ///< [experts, out]; undefined: none
};

/// The experts of one layer. Immutable.
class ExpertMixture {
 public:
  /// How the chosen experts' products are made. together: all in one product of groups of rows; dense: every expert
  /// computes every row (for few rows, where reading the weights is what takes time); one_by_one: the host waits for
  /// the numbers of rows.
  enum class Way { together, dense, one_by_one };

  ExpertMixture() = default;
  /// `router` [experts, hidden], `router_bias` [experts] or undefined.
  ExpertMixture(const at::Tensor& router, const at::Tensor& router_bias, std::vector<FeedForward> experts,
                const BodySettings& settings);
  /// The chosen experts' answers, weighted and summed, plus `residual` if that is defined.
  at::Tensor apply(const at::Tensor& input, const at::Tensor& residual) const;
  /// Which way so many rows go.
  Way way_for(std::int64_t rows) const;

 private:
  struct Choice;
  struct Order;
  struct Answers;
  Choice choose(const at::Tensor& input) const;
  Order order_of(const Choice& choice) const;
  at::Tensor places_in(const Order& order) const;
  Answers answer_together(const at::Tensor& input, const Choice& choice) const;
  Answers answer_densely(const at::Tensor& input, const Choice& choice) const;
  Answers answer_one_by_one(const at::Tensor& input, const Choice& choice) const;
  at::Tensor mix_with_operators(const at::Tensor& input, const at::Tensor& residual) const;
  at::Tensor mix_on_cpu(const at::Tensor& input) const;

  BodySettings settings_;
  Kernels kernels_ = Kernels::own_kernels;
  at::Tensor router_bias_;   ///< float32
  at::Tensor router_;        ///< float32; own kernels
  OutputProjection scores_;  ///< the same; operators
  std::vector<FeedForward> experts_;
  ExpertStack inner_;  ///< gated: out is 2 inner
  ExpertStack outer_;
  at::Tensor numbers_;  ///< [experts]: 0, 1, ..
  bool in_groups_ = false;
};

}  // namespace stereosweep::model
