// Numbers of a finding, by the names of its columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "findings/Finding.hpp"

namespace stereosweep::findings {

inline const std::vector<double>& column_values(const Finding& finding, std::string_view column) {
  const auto* found = finding.find_column(column);
  if (found == nullptr) {
    throw std::logic_error(finding.name + " without the column '" + std::string(column) + "'");
  }
  return found->values;
}

inline double number_in(const Finding& finding, std::string_view column, std::size_t row) {
  return column_values(finding, column).at(row);
}

/// Of a column that says why there is no number.
inline stats::Reason reason_in(const Finding& finding, std::string_view column, std::size_t row) {
  return static_cast<stats::Reason>(number_in(finding, column, row));
}

/// Label of a row on an axis or one of its coordinates.
inline const std::string& label_in(const Finding& finding, const std::string& name, std::size_t row) {
  return RowLabels(finding, name).of(row);
}

}  // namespace stereosweep::findings
