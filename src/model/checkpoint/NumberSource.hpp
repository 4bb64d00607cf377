// Numbers of a tensor that no file holds as they are: they are made while they are read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace stereosweep::model {

/// Of blocks of few bits, of several stored tensors, of a tensor and what an adapter adds.
class NumberSource {
 public:
  virtual ~NumberSource() = default;
  /// Numbers `first` and the next, in C order. Throws as reading a file does.
  virtual void read(std::int64_t first, std::span<float> out) const = 0;
};

/// Calls `use(row, column, part)` for each part of the numbers `first` and the next that lies in one row.
template <class Use>
void by_rows(std::int64_t first, std::span<float> out, std::int64_t columns, const Use& use) {
  while (!out.empty()) {
    const auto column = first % columns;
    const auto part = out.first(std::min(out.size(), static_cast<std::size_t>(columns - column)));
    use(first / columns, column, part);
    first += static_cast<std::int64_t>(part.size());
    out = out.subspan(part.size());
  }
}

}  // namespace stereosweep::model
