#include "config/ProbeFormat.hpp"

#include <algorithm>

#include "base/Check.hpp"
#include "base/Error.hpp"

namespace stereosweep::config {
namespace {

std::vector<const ProbeFormat*>& formats() {
  static std::vector<const ProbeFormat*> all;
  return all;
}

}  // namespace

void add_probe_format(const ProbeFormat& format) {
  STEREOSWEEP_ASSERT(std::ranges::find(formats(), format.name(), &ProbeFormat::name) == formats().end(),
                     "the name of a probe is new");
  formats().push_back(&format);
}

std::span<const ProbeFormat* const> probe_formats() { return formats(); }

const ProbeFormat& format_of(std::string_view name) {
  const auto found = std::ranges::find(formats(), name, &ProbeFormat::name);
  if (found == formats().end()) {
    throw base::InputError(base::describe("no probe is called '" + std::string(name) + "'",
                                          "the file was written by another version of this program"));
  }
  return **found;
}

}  // namespace stereosweep::config
