// Where the variance of one measure comes from: shares of the sum of squares with intervals. Knows no probe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "findings/variance/CellTable.hpp"
#include "results/Layout.hpp"

namespace stereosweep::findings {

enum class VarianceStatus : std::uint8_t {
  ok = 0,
  no_values = 1,  ///< no complete table of at least one cell
  constant = 2,   ///< all cells are equal
  unbalanced = 3  ///< cells are missing: computed on a complete table inside, `num_left_out` cells smaller
};

/// Main effects, subject x item, and all that is left; of several runs also their main effect, and what they say of a
/// subject and item beyond it.
enum class RunsCompared { one, several };
std::vector<std::string> variance_sources(RunsCompared runs);

/// [source]
struct VarianceShares {
  std::vector<double> shares;  ///< of the total sum of squares; their sum is 1; 0 where below 1e-12
  /// Interval over other templates and rephrasings: jackknife of the logit of the share, its variance added up over
  /// both axes, Student's t with Satterthwaite's degrees of freedom (Efron & Tibshirani 1993, ch. 11; Satterthwaite
  /// 1946). An axis with fewer than three labels is taken as given. NaN: neither has three, or the share is 0 or 1.
  std::vector<double> lows;
  std::vector<double> highs;
  std::vector<std::int32_t> degrees;  ///< of freedom
  std::int32_t num_cells = 0;         ///< computed on
  std::int32_t num_left_out = 0;      ///< with a score, not computed on
  VarianceStatus status = VarianceStatus::no_values;
};

/// What shares are computed of: a complete table, its mean taken off.
struct CentredTable {
  CellTable table;
  double largest = 0;  ///< absolute value of a score before that
  std::int32_t num_left_out = 0;
  VarianceStatus status = VarianceStatus::no_values;
};
CentredTable centred(CellTable table);

VarianceShares shares_of(const CentredTable& centred, RunsCompared runs, double confidence);

/// Variables `PREFIXvariance_share`, `..._low`, `..._high`, `..._degrees` over (`over`, an axis of measures,
/// variance_source), and
/// `..._n`, `..._num_left_out`, `..._status` over `over`; adds the axis variance_source.
void write_shares(results::Layout& layout, const std::string& prefix, const std::string& over, RunsCompared runs,
                  const std::vector<VarianceShares>& measures);

/// "Variance in % by source", a line for each measure with its shares, and one with their intervals.
std::string shares_text(const std::vector<std::string>& measures, RunsCompared runs,
                        const std::vector<VarianceShares>& shares, double confidence);

}  // namespace stereosweep::findings
