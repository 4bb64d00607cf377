#include "model/Kernels.hpp"

#include <cstdlib>
#include <string>

#include "base/Error.hpp"

namespace stereosweep::model {
namespace {

Kernels kernels_on_cpu() {
  const char* const named = std::getenv("STEREOSWEEP_KERNELS");
  const std::string name = named == nullptr ? "" : named;
  if (name.empty() || name == "own_kernels") {
    return Kernels::own_kernels;
  }
  if (name == "operators") {
    return Kernels::operators;
  }
  throw base::InputError(
      base::describe("STEREOSWEEP_KERNELS is '" + name + "'", "there are own_kernels and operators"));
}

}  // namespace

Kernels kernels_on(const c10::Device& device) {
  if (!device.is_cpu()) {
    return Kernels::operators;
  }
  static const Kernels chosen = kernels_on_cpu();
  return chosen;
}

}  // namespace stereosweep::model
