// How much processor time this process has used since a moment: unlike the clock, it does not grow when others work.
#pragma once

#include <ctime>

namespace stereosweep {

class ProcessorTime {
 public:
  double seconds() const { return static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC; }

 private:
  std::clock_t begin_ = std::clock();
};

}  // namespace stereosweep
